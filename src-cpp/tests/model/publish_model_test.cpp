/// Copy on write: a writer builds a new object with plain stores and publishes it with one atomic store.
#include "checker.hpp"

namespace kvindex::model {
namespace {

struct object {
    var<int> first{0};
    var<int> second{0};
};

struct shared {
    object old_one;
    object new_one;
    atomic<object*> link{&old_one};

    void publish(std::memory_order order) {
        new_one.first.write(1);
        new_one.second.write(1);
        link.store(&new_one, order);
    }

    void read(std::memory_order order) {
        const object* seen = link.load(order);
        require(seen->first.read() == seen->second.read(), "half an object");
    }
};

outcome publish_and_read(std::memory_order store, std::memory_order load) {
    return explore<shared>({}, {[=](shared& s) {
                                    s.read(load);
                                    s.read(load);
                                },
                                [=](shared& s) { s.read(load); }, [=](shared& s) { s.publish(store); }});
}

TEST(model_publish, a_reader_sees_all_of_an_object_or_none) {
    expect_holds(publish_and_read(std::memory_order_release, std::memory_order_acquire));
}

TEST(model_publish_control, a_relaxed_publication_is_a_race) {
    expect_caught(publish_and_read(std::memory_order_relaxed, std::memory_order_acquire),
                  "data race: read beside a write");
}

TEST(model_publish_control, a_relaxed_load_is_a_race) {
    expect_caught(publish_and_read(std::memory_order_release, std::memory_order_relaxed),
                  "data race: read beside a write");
}

TEST(model_publish_control, a_change_in_place_is_a_race) {
    const auto reads = [](shared& s) { s.read(std::memory_order_acquire); };
    expect_caught(explore<shared>({}, {reads, [](shared& s) { s.old_one.first.write(1); }}), "data race");
}

} // namespace
} // namespace kvindex::model
