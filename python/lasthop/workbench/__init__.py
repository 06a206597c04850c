"""The workbench: a page on which the engine runs, and beside it what needs Python."""
