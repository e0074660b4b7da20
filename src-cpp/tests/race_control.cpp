/// Control for the thread sanitizer: the same index without its guard. ctest expects a report; a run without
/// one means that the stress test proves nothing.
#include "index/tree_index.hpp"

#include <thread>
#include <vector>

int main() {
    using namespace kvindex;
    memory_account account;
    index::tree_index tree(account, 1000);
    const slot_id slot = *tree.open_slot(1, 0);
    const std::vector<engine_hash> names{1, 2, 3, 4};
    const std::vector<local_hash> locals{11, 12, 13, 14};
    std::thread writer([&] {
        for (int i = 0; i < 2000; i++) {
            tree.apply(stored_event{slot, tier::gpu, false, 0, names, locals});
            tree.apply(removed_event{slot, tier::gpu, std::span(names).subspan(2)});
        }
    });
    for (int i = 0; i < 2000; i++) {
        std::vector<hit> hits(1);
        tree.match(std::span(locals).first(1), hits);
    }
    writer.join();
    return 0;
}
