/// What the core calls where memory may run out, in programs without failing_memory.cpp: none does.
#include "base/failure_point.hpp"

[[gnu::weak]] void kvindex::failure_point() {
}
