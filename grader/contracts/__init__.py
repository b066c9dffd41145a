"""The contracts of all that a plugin brings, and of what grader hands to it; imports nothing above the nouns.

A plugin derives its classes from `CheckKind`, `Report`, `Engine`, `Sandbox`, `Platform`, `Worksheet` and
`ResultsFile`; the built-in ones do so, too, and come in by the same hooks (`grader.hookspecs`).
"""
