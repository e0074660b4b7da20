/// Fuzz body: the bytes choose the operations on index and oracle; every answer must be equal.
#include "scenario.hpp"

#include <cstdio>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace kvindex::tests;
    byte_source source({data, size});
    try {
        scenario s(source);
        while (source.more()) {
            s.step();
        }
        s.check_invariants();
        s.compare_all();
    } catch (const disagreement& d) {
        std::fprintf(stderr, "%s\n", d.what());
        std::abort();
    }
    return 0;
}
