"""The workbench: a page that runs the engine in the browser, with a server for features that need
Python."""
