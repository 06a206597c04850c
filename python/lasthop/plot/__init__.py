"""Pictures of results, drawn with matplotlib. This package is imported when the first picture is
drawn.
"""
