"""Resources that programs on one machine share: leases of devices and cores, and CPU accounting."""
