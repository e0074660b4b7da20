/// The product's epoch_domain and limbo, explored: readers follow a link that a writer swaps, the writer frees
/// what nobody can hold. Each control weakens one step of the very same code.
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

template <typename Rules, std::uint32_t Slots>
struct shared {
    using domain_type = sync::epoch_domain<atomic, Slots, Rules>;

    domain_type domain;
    std::array<var<int>, 3> nodes{var<int>{0}, var<int>{1}, var<int>{2}};
    atomic<var<int>*> link{&nodes[0]};
    sync::limbo<var<int>*> retired;

    void read(std::uint32_t first_slot) {
        typename domain_type::pin pinned(domain, first_slot);
        const var<int>* node = link.load(std::memory_order_acquire);
        require(node == &nodes[static_cast<std::size_t>(node->read())], "another node's content");
    }

    void swap(std::size_t from) {
        link.store(&nodes[from + 1], std::memory_order_release);
        retired.retire(&nodes[from], domain.current());
    }

    void free_below(std::uint64_t min) {
        retired.reclaim(min, [](var<int>* node) { node->free(); });
    }

    void swap_and_free(std::size_t from) {
        swap(from);
        free_below(domain.advance_and_min());
    }
};

template <typename State>
void frees_all_in_the_end(State& s) {
    s.free_below(s.domain.advance_and_min());
    require(s.retired.size() == 0, "not freed though nobody reads");
}

/// One reader that comes twice, a writer that swaps twice.
template <typename Rules>
outcome one_reader() {
    using state = shared<Rules, 1>;
    return explore<state>({},
                          {[](state& s) {
                               s.read(0);
                               s.read(0);
                           },
                           [](state& s) {
                               s.swap_and_free(0);
                               s.swap_and_free(1);
                           }},
                          frees_all_in_the_end<state>);
}

/// Two readers that begin at these slots, a writer that swaps once.
template <typename Rules, std::uint32_t Slots>
outcome two_readers(std::uint32_t first, std::uint32_t second, const options& limits = {}) {
    using state = shared<Rules, Slots>;
    return explore<state>(limits,
                          {[=](state& s) { s.read(first); }, [=](state& s) { s.read(second); },
                           [](state& s) { s.swap_and_free(0); }},
                          frees_all_in_the_end<state>);
}

TEST(model_epoch, nothing_is_freed_under_a_reader) {
    expect_holds(one_reader<rules>());
}

TEST(model_epoch, nothing_is_freed_under_two_readers) {
    expect_holds(two_readers<rules, 2>(0, 1));
}

TEST(model_epoch, nothing_is_freed_under_two_readers_that_want_the_same_slot) {
    expect_holds(two_readers<rules, 2>(0, 0));
}

TEST(model_epoch, a_reader_that_waits_for_the_only_slot_gets_it) {
    options limits;
    limits.preemptions = 2; // waiting multiplies the orders: without a bound this takes minutes
    expect_holds(two_readers<rules, 1>(0, 0, limits));
}

TEST(model_epoch, an_answer_holds_for_what_is_retired_after_it) {
    using state = shared<rules, 1>;
    expect_holds(explore<state>({},
                                {[](state& s) { s.read(0); },
                                 [](state& s) {
                                     s.swap(0);
                                     const std::uint64_t min = s.domain.advance_and_min();
                                     s.swap(1);
                                     s.free_below(min);
                                 }},
                                frees_all_in_the_end<state>));
}

TEST(model_epoch, a_pin_inside_a_pin_holds_as_well) {
    using state = shared<rules, 2>;
    expect_holds(explore<state>({},
                                {[](state& s) {
                                     state::domain_type::pin outer(s.domain, 0);
                                     const var<int>* node = s.link.load(std::memory_order_acquire);
                                     s.read(0);
                                     static_cast<void>(node->read());
                                 },
                                 [](state& s) { s.swap_and_free(0); }},
                                frees_all_in_the_end<state>));
}

TEST(model_epoch, something_is_freed_while_readers_come_and_go) {
    using state = shared<rules, 1>;
    std::uint64_t freed_beside_a_reader = 0;
    expect_holds(explore<state>({}, {[](state& s) { s.read(0); },
                                     [&](state& s) {
                                         s.swap_and_free(0);
                                         if (s.retired.size() == 0) {
                                             freed_beside_a_reader++;
                                         }
                                     }}));
    EXPECT_GT(freed_beside_a_reader, 0u);
}

struct no_second_look : rules {
    static constexpr bool look_again = false;
};

struct weak_claim : rules {
    static constexpr std::memory_order claim = std::memory_order_acq_rel;
};

struct relaxed_pin : rules {
    static constexpr std::memory_order claim = std::memory_order_relaxed;
};

struct weak_advance : rules {
    static constexpr std::memory_order advance = std::memory_order_release;
};

struct weak_scan : rules {
    static constexpr std::memory_order scan = std::memory_order_acquire;
};

struct weak_mark : rules {
    static constexpr std::memory_order raise_mark = std::memory_order_acq_rel;
};

struct relaxed_unpin : rules {
    static constexpr std::memory_order unpin = std::memory_order_relaxed;
};

template <typename Rules>
void expect_early_free() {
    const outcome o = one_reader<Rules>();
    print(o);
    // Which of the two is seen first depends on who comes first.
    EXPECT_TRUE(o.failure == "use after free: read" || o.failure == "data race: free beside a read")
        << o.failure;
}

TEST(model_epoch_control, without_the_second_look_an_old_link_is_seen) {
    expect_early_free<no_second_look>();
}

TEST(model_epoch_control, a_claim_that_is_not_seq_cst_is_missed) {
    expect_early_free<weak_claim>();
    expect_early_free<relaxed_pin>();
}

TEST(model_epoch_control, an_advance_that_is_not_seq_cst_comes_late) {
    expect_early_free<weak_advance>();
}

TEST(model_epoch_control, a_scan_that_is_not_seq_cst_misses_a_reader) {
    expect_early_free<weak_scan>();
}

TEST(model_epoch_control, a_mark_that_is_not_seq_cst_hides_a_reader) {
    expect_early_free<weak_mark>();
}

TEST(model_epoch_control, a_relaxed_unpin_lets_reads_run_into_the_free) {
    expect_caught(one_reader<relaxed_unpin>(), "data race: free beside a read");
}

TEST(model_epoch_control, free_without_a_scan) {
    using state = shared<rules, 1>;
    expect_caught(explore<state>({}, {[](state& s) { s.read(0); },
                                      [](state& s) {
                                          s.swap(0);
                                          s.free_below(s.domain.current() + 1);
                                      }}),
                  "free");
}

TEST(model_epoch_control, retired_before_it_was_unlinked) {
    using state = shared<rules, 1>;
    expect_caught(explore<state>({}, {[](state& s) { s.read(0); },
                                      [](state& s) {
                                          s.retired.retire(&s.nodes[0], s.domain.current());
                                          const std::uint64_t min = s.domain.advance_and_min();
                                          s.link.store(&s.nodes[1], std::memory_order_release);
                                          s.free_below(min);
                                      }}),
                  "free");
}

} // namespace
} // namespace kvindex::model
