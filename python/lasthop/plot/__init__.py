"""Pictures of answers, drawn with matplotlib. This package is imported when the first picture is
drawn.
"""
