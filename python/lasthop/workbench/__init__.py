"""The workbench: a page on which the engine runs, with a server for what needs Python."""
