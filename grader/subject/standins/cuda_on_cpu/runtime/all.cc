// The whole runtime in one piece: what takes time to compile is the standard library's headers.
#include "memory.cc"
#include "block.cc"
#include "schedule.cc"
#include "report.cc"
#include "checks.cc"
#include "runtime.cc"
#include "cublas.cc"
