/// Memory runs out in each function of the ABI: KVI_E_MEMORY, nothing written, the index usable. (What is in it
/// then: src-cpp/tests/allocation_failure_test.cpp.)
#include "kvindex.h"

#include "failing_memory.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

namespace {

using kvindex::tests::failing;
using kvindex::tests::failing_memory;

struct record {
    kvi_event head{};
    std::array<std::uint64_t, 3> names{21, 22, 23};
    std::array<std::uint64_t, 3> locals{31, 32, 33};
};

record stored(std::uint32_t slot) {
    record r;
    r.head.size = sizeof r;
    r.head.kind = KVI_STORED_LOCALS;
    r.head.slot = slot;
    r.head.n = 3;
    return r;
}

/// Calls f with its n-th allocation failing, n = 1, 2, ... until it answers KVI_OK; every other answer must be
/// KVI_E_MEMORY. Answers how often memory ran out.
std::uint64_t until_ok(const std::function<std::int32_t()>& f) {
    for (std::uint64_t n = 1;; n++) {
        std::int32_t status = KVI_OK;
        {
            const failing_memory armed(n, failing::once);
            status = f();
        }
        if (status == KVI_OK) {
            return n - 1;
        }
        EXPECT_EQ(status, KVI_E_MEMORY) << "allocation " << n;
        if (status != KVI_E_MEMORY) {
            return 0;
        }
    }
}

class abi_memory : public ::testing::Test {
protected:
    void SetUp() override {
        kvi_config config{};
        config.size = sizeof config;
        config.max_blocks = 1u << 16;
        ASSERT_EQ(kvi_open(&config, &index), KVI_OK);
        ASSERT_EQ(kvi_slot_open(index, 0, 0, &slot), KVI_OK);
    }

    void TearDown() override {
        EXPECT_EQ(kvi_close(index), KVI_OK);
    }

    void apply() {
        const record r = stored(slot);
        kvi_applied applied{};
        ASSERT_EQ(kvi_apply(index, &r, sizeof r, &applied), KVI_OK);
    }

    kvi_index* index = nullptr;
    std::uint32_t slot = 0;
};

TEST_F(abi_memory, open_makes_an_index_or_writes_nothing) {
    kvi_index* made = nullptr;
    EXPECT_GT(until_ok([&] {
                  const std::int32_t status = kvi_open(nullptr, &made);
                  EXPECT_EQ(made != nullptr, status == KVI_OK);
                  return status;
              }),
              10u);
    EXPECT_EQ(kvi_close(made), KVI_OK);
}

TEST_F(abi_memory, apply_writes_nothing_and_completes_the_buffer_when_it_is_called_again) {
    const record r = stored(slot);
    kvi_applied applied{};
    EXPECT_GT(until_ok([&] {
                  applied.applied = 77;
                  const std::int32_t status = kvi_apply(index, &r, sizeof r, &applied);
                  EXPECT_EQ(applied.applied, status == KVI_OK ? 1u : 77u);
                  return status;
              }),
              2u);
    kvi_hit hit{};
    std::uint32_t count = 0;
    ASSERT_EQ(kvi_match_locals(index, 0, r.locals.data(), 3, &hit, 1, &count), KVI_OK);
    ASSERT_EQ(count, 1u);
    EXPECT_EQ(hit.depth[0], 3u);
}

TEST_F(abi_memory, opening_a_slot_works_at_last_and_gives_the_lowest_number) {
    std::uint32_t opened = 99;
    for (std::uint32_t number = 1; number <= 1024; number++) {
        until_ok([&] { return kvi_slot_open(index, 0, 0, &opened); });
        ASSERT_EQ(opened, number);
    }
}

TEST_F(abi_memory, closing_a_slot_and_reading_the_sums_need_none) {
    apply();
    kvi_statistics stats{};
    const failing_memory armed(1, failing::from_then_on);
    EXPECT_EQ(kvi_stats(index, &stats), KVI_OK);
    EXPECT_EQ(kvi_slot_close(index, slot), KVI_OK);
}

TEST_F(abi_memory, look_ups_of_a_new_thread_fail_and_then_answer) {
    apply();
    // The buffers of a thread are made at its first look-up.
    std::thread([&] {
        const std::array<std::uint64_t, 3> locals{31, 32, 33};
        kvi_hit hit{};
        std::uint32_t count = 55;
        EXPECT_GT(until_ok([&] {
                      const std::int32_t status = kvi_match_locals(index, 0, locals.data(), 3, &hit, 1, &count);
                      EXPECT_EQ(count, status == KVI_OK ? 1u : 55u);
                      return status;
                  }),
                  0u);
        EXPECT_EQ(hit.depth[0], 3u);
    }).join();
    std::thread([&] {
        const std::vector<std::uint32_t> tokens(64, 3);
        kvi_hit hit{};
        std::uint32_t count = 55;
        EXPECT_GT(until_ok([&] {
                      return kvi_match_tokens(index, 0, tokens.data(), 64, 16, 1337, nullptr, 0, &hit, 1,
                                              &count);
                  }),
                  0u);
        EXPECT_EQ(count, 0u);
    }).join();
}

TEST_F(abi_memory, a_snapshot_is_saved_and_loaded_at_last) {
    apply();
    const std::string path =
        (std::filesystem::temp_directory_path() / ("kvindex.memory." + std::to_string(::getpid()))).string();
    kvi_snapshot_info info{};
    EXPECT_GT(until_ok([&] {
                  return kvi_snapshot_save(index, path.c_str(), nullptr, 0, nullptr, 0, &info, nullptr, 0);
              }),
              0u);
    kvi_index* other = nullptr;
    ASSERT_EQ(kvi_open(nullptr, &other), KVI_OK);
    kvi_snapshot_slot loaded{};
    EXPECT_GT(until_ok([&] {
                  return kvi_snapshot_load(other, path.c_str(), nullptr, 0, &loaded, 1, &info, nullptr, 0);
              }),
              10u);
    EXPECT_EQ(loaded.slot, slot);
    EXPECT_EQ(kvi_close(other), KVI_OK);
    EXPECT_EQ(std::remove(path.c_str()), 0);
}

} // namespace
