/// Content that grows behind a length and is cut by lowering it. The words are plain data here, so any access
/// that the protocol does not order is a race.
#include "checker.hpp"

#include "sync/epoch.hpp"

#include <array>
#include <cstdint>

namespace kvindex::model {
namespace {

struct rules : sync::epoch_rules {
    static void wait() {
        yield();
    }
};

struct shared {
    using domain_type = sync::epoch_domain<atomic, 1, rules>;

    domain_type domain;
    std::array<var<int>, 3> words{var<int>{10}, var<int>{11}, var<int>{0}};
    atomic<std::uint32_t> length{2};

    void read_all() {
        const std::uint32_t n = length.load(std::memory_order_acquire);
        for (std::uint32_t i = 0; i < n; i++) {
            require(words[i].read() % 10 == static_cast<int>(i), "a word that was never published");
        }
    }

    void read() {
        domain_type::pin pinned(domain, 0);
        read_all();
    }

    void append(std::uint32_t at, int word, std::memory_order order) {
        words[at].write(word);
        length.store(at + 1, order);
    }

    std::uint64_t truncate() {
        length.store(1, std::memory_order_release);
        return domain.current();
    }
};

outcome append_beside_a_reader(std::memory_order order) {
    return explore<shared>({}, {[](shared& s) {
                                    s.read();
                                    s.read();
                                },
                                [=](shared& s) { s.append(2, 12, order); }});
}

TEST(model_append, a_reader_sees_what_lies_below_the_length) {
    expect_holds(append_beside_a_reader(std::memory_order_release));
}

TEST(model_append_control, a_relaxed_length_is_a_race) {
    expect_caught(append_beside_a_reader(std::memory_order_relaxed), "data race: read beside a write");
}

TEST(model_append, a_cut_place_is_written_again_after_a_grace_period) {
    std::uint64_t written_again = 0;
    std::uint64_t held_up = 0;
    expect_holds(explore<shared>({}, {[](shared& s) {
                                          s.read();
                                          s.read();
                                      },
                                      [&](shared& s) {
                                          const std::uint64_t cut_at = s.truncate();
                                          if (cut_at < s.domain.advance_and_min()) {
                                              s.append(1, 21, std::memory_order_release);
                                              written_again++;
                                          } else {
                                              held_up++;
                                          }
                                      }}));
    EXPECT_GT(written_again, 0u);
    EXPECT_GT(held_up, 0u);
}

TEST(model_append_control, a_cut_place_written_again_at_once_is_a_race) {
    expect_caught(explore<shared>({}, {[](shared& s) { s.read(); },
                                       [](shared& s) {
                                           s.truncate();
                                           s.append(1, 21, std::memory_order_release);
                                       }}),
                  "data race");
}

TEST(model_append_control, a_reader_that_is_not_pinned_is_a_race) {
    expect_caught(explore<shared>({}, {[](shared& s) { s.read_all(); },
                                       [](shared& s) {
                                           const std::uint64_t cut_at = s.truncate();
                                           if (cut_at < s.domain.advance_and_min()) {
                                               s.append(1, 21, std::memory_order_release);
                                           }
                                       }}),
                  "data race");
}

} // namespace
} // namespace kvindex::model
