"""What programs on one machine share: leases of its devices and cores, and how quiet it is."""
