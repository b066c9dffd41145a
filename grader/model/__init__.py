"""The nouns: frozen values that know nothing of files, clocks or processes."""
