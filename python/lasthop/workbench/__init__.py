"""The workbench: a web page with the engine in the browser, and a server for features that need
Python."""
