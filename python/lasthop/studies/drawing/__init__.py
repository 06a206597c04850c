"""Functions that draw the pictures of studies."""
