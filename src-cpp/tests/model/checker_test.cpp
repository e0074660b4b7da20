/// The checker itself: small programs whose possible results are known from the C++20 memory model. Each set
/// is compared as a whole, so both a missing result and an impossible one are seen.
#include "checker.hpp"

#include <array>
#include <functional>
#include <set>
#include <utility>

namespace kvindex::model {
namespace {

using pairs = std::set<std::pair<int, int>>;
constexpr auto relaxed = std::memory_order_relaxed;
constexpr auto acquire = std::memory_order_acquire;
constexpr auto release = std::memory_order_release;
constexpr auto seq_cst = std::memory_order_seq_cst;

struct two_words {
    atomic<int> x{0};
    atomic<int> y{0};
    int a = -1;
    int b = -1;
};

pairs store_buffer(std::memory_order store, std::memory_order load, const options& limits = {}) {
    pairs results;
    expect_holds(explore<two_words>(limits,
                                    {[=](two_words& s) {
                                         s.x.store(1, store);
                                         s.a = s.y.load(load);
                                     },
                                     [=](two_words& s) {
                                         s.y.store(1, store);
                                         s.b = s.x.load(load);
                                     }},
                                    [&](two_words& s) {
                                        results.insert({s.a, s.b});
                                    }));
    return results;
}

TEST(checker, store_buffering_is_visible_unless_seq_cst) {
    EXPECT_EQ(store_buffer(release, acquire), (pairs{{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
    EXPECT_EQ(store_buffer(seq_cst, acquire), (pairs{{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
    EXPECT_EQ(store_buffer(seq_cst, seq_cst), (pairs{{0, 1}, {1, 0}, {1, 1}}));
    options in_order;
    in_order.stale_reads = false;
    EXPECT_EQ(store_buffer(relaxed, relaxed, in_order), (pairs{{0, 1}, {1, 0}, {1, 1}}));
}

/// Two seq_cst loads of one word: the order between them matters though neither stores.
std::set<std::array<int, 3>> ordered_loads(const options& limits, bool swapped) {
    struct state : two_words {
        int c = -1;
    };
    const std::function<void(state&)> looks = [](state& s) { s.a = s.x.load(seq_cst); };
    const std::function<void(state&)> looks_late = [](state& s) {
        s.b = s.y.load(relaxed);
        s.c = s.x.load(seq_cst);
    };
    std::set<std::array<int, 3>> results;
    expect_holds(explore<state>(limits,
                                {[](state& s) {
                                     s.x.store(1, relaxed);
                                     s.y.store(1, relaxed);
                                 },
                                 swapped ? looks : looks_late, swapped ? looks_late : looks},
                                [&](state& s) {
                                    results.insert({s.a, s.b, s.c});
                                }));
    return results;
}

TEST(checker, the_reduction_loses_no_result) {
    options full;
    full.reduce = false;
    for (const bool swapped : {false, true}) {
        const auto all = ordered_loads(full, swapped);
        EXPECT_EQ(all.size(), 8u);
        EXPECT_EQ(ordered_loads({}, swapped), all);
    }
    EXPECT_EQ(store_buffer(relaxed, relaxed, full), store_buffer(relaxed, relaxed));
    EXPECT_EQ(store_buffer(seq_cst, seq_cst, full), store_buffer(seq_cst, seq_cst));
}

pairs message(std::memory_order store, std::memory_order load) {
    pairs results;
    expect_holds(explore<two_words>({},
                                    {[=](two_words& s) {
                                         s.x.store(1, relaxed);
                                         s.y.store(1, store);
                                     },
                                     [=](two_words& s) {
                                         s.a = s.y.load(load);
                                         s.b = s.x.load(relaxed);
                                     }},
                                    [&](two_words& s) {
                                        results.insert({s.a, s.b});
                                    }));
    return results;
}

TEST(checker, release_and_acquire_pass_a_message_and_one_half_alone_does_not) {
    EXPECT_EQ(message(release, acquire), (pairs{{0, 0}, {0, 1}, {1, 1}}));
    EXPECT_EQ(message(relaxed, acquire), (pairs{{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
    EXPECT_EQ(message(release, relaxed), (pairs{{0, 0}, {0, 1}, {1, 0}, {1, 1}}));
}

TEST(checker, a_location_never_goes_back) {
    pairs results;
    expect_holds(explore<two_words>({},
                                    {[](two_words& s) {
                                         s.x.store(1, relaxed);
                                         s.x.store(2, relaxed);
                                     },
                                     [](two_words& s) {
                                         s.a = s.x.load(relaxed);
                                         s.b = s.x.load(relaxed);
                                     }},
                                    [&](two_words& s) {
                                        results.insert({s.a, s.b});
                                    }));
    EXPECT_EQ(results, (pairs{{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}}));
}

TEST(checker, what_one_thread_saw_binds_those_who_learn_of_it) {
    // Thread 2 sees x == 1 and tells thread 3, which must not find x == 0.
    pairs results;
    expect_holds(explore<two_words>({},
                                    {[](two_words& s) { s.x.store(1, relaxed); },
                                     [](two_words& s) { s.y.store(s.x.load(relaxed), release); },
                                     [](two_words& s) {
                                         s.a = s.y.load(acquire);
                                         s.b = s.x.load(relaxed);
                                     }},
                                    [&](two_words& s) {
                                        results.insert({s.a, s.b});
                                    }));
    EXPECT_EQ(results, (pairs{{0, 0}, {0, 1}, {1, 1}}));
}

bool readers_can_disagree(std::memory_order store, std::memory_order load, bool reduce) {
    struct state : two_words {
        int c = -1;
        int d = -1;
    };
    bool disagreed = false;
    options limits;
    limits.reduce = reduce;
    expect_holds(explore<state>(
        limits,
        {[=](state& s) { s.x.store(1, store); }, [=](state& s) { s.y.store(1, store); },
         [=](state& s) {
             s.a = s.x.load(load);
             s.b = s.y.load(load);
         },
         [=](state& s) {
             s.c = s.y.load(load);
             s.d = s.x.load(load);
         }},
        [&](state& s) { disagreed = disagreed || (s.a == 1 && s.b == 0 && s.c == 1 && s.d == 0); }));
    return disagreed;
}

TEST(checker, readers_agree_on_the_order_of_two_stores_only_with_seq_cst) {
    for (const bool reduce : {false, true}) {
        EXPECT_TRUE(readers_can_disagree(release, acquire, reduce));
        EXPECT_FALSE(readers_can_disagree(seq_cst, seq_cst, reduce));
    }
}

TEST(checker, additions_are_not_lost_but_load_and_store_lose_one) {
    const auto whole = [](two_words& s) { s.x.fetch_add(1, relaxed); };
    const auto halves = [](two_words& s) { s.x.store(s.x.load(seq_cst) + 1, seq_cst); };
    const auto both = [](two_words& s) { require(s.x.load() == 2, "lost"); };
    expect_holds(explore<two_words>({}, {whole, whole}, both));
    expect_caught(explore<two_words>({}, {halves, halves}, both), "lost");

    options bounded;
    bounded.stale_reads = false;
    bounded.preemptions = 0;
    expect_holds(explore<two_words>(bounded, {halves, halves}, both));
    bounded.preemptions = 1;
    expect_caught(explore<two_words>(bounded, {halves, halves}, both), "lost");
}

TEST(checker, an_exchange_that_must_succeed_does_and_one_wins) {
    pairs results;
    const auto claim = [](atomic<int>& word, int mine) {
        int expected = 0;
        return word.compare_exchange_strong(expected, mine, relaxed) ? 0 : expected;
    };
    expect_holds(explore<two_words>(
        {}, {[&](two_words& s) { s.a = claim(s.x, 1); }, [&](two_words& s) { s.b = claim(s.x, 2); }},
        [&](two_words& s) {
            results.insert({s.a, s.b});
        }));
    EXPECT_EQ(results, (pairs{{0, 1}, {2, 0}}));
}

struct plain {
    var<int> data{0};
    atomic<int> flag{0};
};

outcome hand_over(std::memory_order store, bool over_an_addition, std::memory_order after) {
    return explore<plain>({}, {[=](plain& s) {
                                   s.data.write(1);
                                   s.flag.store(1, store);
                               },
                               [=](plain& s) {
                                   if (over_an_addition && s.flag.load(relaxed) == 1) {
                                       s.flag.fetch_add(1, relaxed);
                                   } else if (!over_an_addition && s.flag.load(relaxed) == 1) {
                                       s.flag.store(2, after);
                                   }
                               },
                               [=](plain& s) {
                                   if (s.flag.load(acquire) == 2) {
                                       require(s.data.read() == 1, "old data");
                                   }
                               }});
}

TEST(checker, only_a_read_modify_write_goes_on_with_a_release) {
    expect_holds(hand_over(release, true, relaxed));
    expect_caught(hand_over(relaxed, true, relaxed), "data race: read beside a write");
    // The middle thread's own release does not cover what it never acquired.
    expect_caught(hand_over(release, false, release), "data race: read beside a write");
}

TEST(checker, finds_races_of_every_kind_and_use_after_free) {
    const auto reads = [](plain& s) { static_cast<void>(s.data.read()); };
    const auto writes = [](plain& s) { s.data.write(1); };
    const auto frees = [](plain& s) { s.data.free(); };
    const auto told = [](plain& s) {
        if (s.flag.load(acquire) == 1) {
            static_cast<void>(s.data.read());
        }
    };
    const auto frees_and_tells = [](plain& s) {
        s.data.free();
        s.flag.store(1, release);
    };
    expect_caught(explore<plain>({}, {writes, writes}), "data race: write beside a write");
    expect_caught(explore<plain>({}, {reads, writes}), "data race: write beside a read");
    expect_caught(explore<plain>({}, {writes, reads}), "data race: read beside a write");
    expect_caught(explore<plain>({}, {reads, frees}), "data race: free beside a read");
    expect_caught(explore<plain>({}, {frees_and_tells, told}), "use after free: read");
    const outcome o = explore<plain>({}, {reads, reads});
    EXPECT_EQ(o.failure, "");
    EXPECT_TRUE(o.complete);
}

TEST(checker, waiting_ends_when_the_other_acts_and_is_reported_when_nobody_will) {
    const auto waits = [](plain& s) {
        while (s.flag.load(relaxed) == 0) {
            yield();
        }
    };
    expect_holds(explore<plain>({}, {waits, [](plain& s) { s.flag.store(1, relaxed); }}));
    expect_caught(explore<plain>({}, {waits, [](plain& s) { s.flag.store(0, relaxed); }}),
                  "no thread can go on");
    const auto spins = [](plain& s) {
        while (s.flag.load(relaxed) == 0) {
        }
    };
    expect_caught(explore<plain>({}, {spins}), "too many operations");
}

TEST(checker, a_search_that_was_not_finished_says_so) {
    options few;
    few.max_executions = 2;
    const outcome o =
        explore<two_words>(few, {[](two_words& s) { s.x.store(1); }, [](two_words& s) { s.a = s.x.load(); },
                                 [](two_words& s) { s.b = s.x.load(relaxed); }});
    EXPECT_EQ(o.failure, "");
    EXPECT_FALSE(o.complete);
}

} // namespace
} // namespace kvindex::model
