/* How exceptions of C++ become return values of the C interface. */
#ifndef DLSYS_RUNTIME_BASE_H_
#define DLSYS_RUNTIME_BASE_H_

#include <exception>

#include "c_runtime_api.h"

/* Stand around the body of a function: what it throws is kept for DLLastError, and makes it return 1. */
#define API_BEGIN() try {
#define API_END()                          \
  }                                        \
  catch (const std::exception &error) {    \
    return dlsys::runtime::failed(error);  \
  }                                        \
  return 0;

namespace dlsys {
namespace runtime {

int failed(const std::exception &error);

}  // namespace runtime
}  // namespace dlsys

#endif
