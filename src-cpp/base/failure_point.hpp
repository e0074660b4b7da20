/// Where memory may run out, besides operator new: an array that is full, address space that is not to be had.
/// Nothing in the product; tests that are compiled with KVI_FAILURE_POINTS define it and let it throw
/// std::bad_alloc.
#pragma once

namespace kvindex {

#if defined(KVI_FAILURE_POINTS)
void failure_point();
#else
inline void failure_point() {
}
#endif

} // namespace kvindex
