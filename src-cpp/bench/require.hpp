/// Answers are checked while they are timed: a benchmark of a wrong index is worth nothing.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

namespace kvindex::bench {

inline void require(bool holds, const char* what) {
    if (!holds) {
        std::fprintf(stderr, "wrong: %s\n", what);
        std::exit(1);
    }
}

inline void require(bool holds, const std::string& what) {
    require(holds, what.c_str());
}

} // namespace kvindex::bench
