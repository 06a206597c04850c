"""Pictures of answers. This package is imported when the first picture is drawn."""
