"""Programs of several processes: started, watched, and asked where they stand."""
