Mac OS X resource fork
