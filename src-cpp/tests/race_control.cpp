/// Control for the thread sanitizer: look-ups without their pin, so that the writer uses memory again that they
/// still read. ctest expects a report; a run without one means that the stress test proves nothing.
#include "index/core.hpp"

#include <thread>
#include <vector>

int main() {
    using namespace kvindex;
    index::core core({.max_blocks = 1u << 18, .ghost_percent = 0, .ghost_floor = 0}, 1000);
    core.open_slot(0, 1, 0);
    std::vector<engine_hash> names(32);
    std::vector<local_hash> locals(32);
    std::thread writer([&] {
        for (std::uint64_t round = 0; round < 3000; round++) {
            for (std::size_t i = 0; i < names.size(); i++) {
                names[names.size() - 1 - i] = 1 + i; // removed end first
                locals[i] = i == 0 ? 1 : round + i;
            }
            const std::vector<engine_hash> stored(names.rbegin(), names.rend());
            applied_counts counts;
            const event s = stored_event{slot_id{0}, tier::gpu, false, 0, stored, locals};
            core.apply({&s, 1}, counts);
            const event r = removed_event{slot_id{0}, tier::gpu, names};
            core.apply({&r, 1}, counts);
        }
    });
    std::vector<local_hash> prompt(32, 1);
    std::vector<std::uint32_t> depth(64);
    for (int i = 0; i < 20'000; i++) {
        core.view().walk(0, prompt.data(), 32, {depth.data(), 64, 64, 1});
    }
    writer.join();
    return 0;
}
