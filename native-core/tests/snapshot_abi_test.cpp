/// Saving and loading through the C ABI: what is refused changes nothing, what is given comes back.
#include "kvindex.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

namespace {

struct one_stored {
    kvi_event head{};
    std::array<std::uint64_t, 2> names{21, 22};
    std::array<std::uint64_t, 2> locals{31, 32};
};

class snapshot_abi : public ::testing::Test {
protected:
    void SetUp() override {
        path =
            (std::filesystem::temp_directory_path() / ("kvindex.abi." + std::to_string(::getpid()))).string();
        ASSERT_EQ(kvi_open(nullptr, &index), KVI_OK);
        ASSERT_EQ(kvi_open(nullptr, &other), KVI_OK);
        std::uint32_t slot = 9;
        ASSERT_EQ(kvi_slot_open(index, 7, 3, &slot), KVI_OK);
        one_stored stored;
        stored.head.size = sizeof stored;
        stored.head.kind = KVI_STORED_LOCALS;
        stored.head.slot = slot;
        stored.head.n = 2;
        kvi_applied applied{};
        ASSERT_EQ(kvi_apply(index, &stored, sizeof stored, &applied), KVI_OK);
        ASSERT_EQ(applied.applied, 1u);
    }

    void TearDown() override {
        kvi_close(index);
        kvi_close(other);
        std::filesystem::remove(path);
    }

    std::int32_t save() {
        const kvi_watermark mark{5, 55};
        const kvi_snapshot_slot label{0, 0, 0, 2, 99};
        return kvi_snapshot_save(index, path.c_str(), &mark, 1, &label, 1, &info, message.data(), 64);
    }

    std::int32_t load(kvi_index* into, std::uint32_t mark_room = 4, std::uint32_t slot_room = 4) {
        return kvi_snapshot_load(into, path.c_str(), marks.data(), mark_room, slots.data(), slot_room, &info,
                                 message.data(), 64);
    }

    std::uint64_t slots_open(const kvi_index* i) {
        kvi_statistics s{};
        EXPECT_EQ(kvi_stats(i, &s), KVI_OK);
        return s.slots;
    }

    kvi_index* index = nullptr;
    kvi_index* other = nullptr;
    std::string path;
    kvi_snapshot_info info{};
    std::array<kvi_watermark, 4> marks{};
    std::array<kvi_snapshot_slot, 4> slots{};
    std::array<char, 64> message{};
};

TEST_F(snapshot_abi, what_was_saved_comes_back) {
    ASSERT_EQ(save(), KVI_OK);
    EXPECT_EQ(info.bytes, std::filesystem::file_size(path));
    ASSERT_EQ(load(other), KVI_OK);
    EXPECT_EQ(info.watermarks, 1u);
    EXPECT_EQ(info.slots, 1u);
    EXPECT_EQ(marks[0].source, 5u);
    EXPECT_EQ(marks[0].sequence, 55u);
    EXPECT_EQ(slots[0].domain, 7u);
    EXPECT_EQ(slots[0].name_space, 3u);
    EXPECT_EQ(slots[0].rank, 2u);
    EXPECT_EQ(slots[0].worker, 99u);
    const std::array<std::uint64_t, 2> locals{31, 32};
    kvi_hit hit{};
    std::uint32_t hits = 0;
    ASSERT_EQ(kvi_match_locals(other, 3, locals.data(), 2, &hit, 1, &hits), KVI_OK);
    EXPECT_EQ(hits, 1u);
    EXPECT_EQ(hit.depth[0], 2u);
    EXPECT_EQ(load(other), KVI_E_ARGUMENT); // it has slots now
}

TEST_F(snapshot_abi, too_little_room_changes_nothing) {
    ASSERT_EQ(save(), KVI_OK);
    EXPECT_EQ(load(other, 0, 4), KVI_E_CAPACITY);
    EXPECT_EQ(load(other, 4, 0), KVI_E_CAPACITY);
    EXPECT_EQ(slots_open(other), 0u);
    EXPECT_EQ(load(other, 1, 1), KVI_OK);
}

TEST_F(snapshot_abi, damage_is_refused_with_a_message_that_fits) {
    ASSERT_EQ(save(), KVI_OK);
    std::filesystem::resize_file(path, info.bytes - 1);
    EXPECT_EQ(load(other), KVI_E_DAMAGED);
    EXPECT_EQ(std::strncmp(message.data(), "byte ", 5), 0) << message.data();
    EXPECT_LT(std::strlen(message.data()), 64u);
    EXPECT_EQ(slots_open(other), 0u);
    std::array<char, 5> little{};
    EXPECT_EQ(kvi_snapshot_load(other, path.c_str(), nullptr, 0, nullptr, 0, &info, little.data(), 5),
              KVI_E_DAMAGED);
    EXPECT_STREQ(little.data(), "byte");
    EXPECT_EQ(kvi_snapshot_load(other, path.c_str(), nullptr, 0, nullptr, 0, &info, nullptr, 0), KVI_E_DAMAGED);
    std::filesystem::remove(path);
    EXPECT_EQ(load(other), KVI_E_IO);
}

TEST_F(snapshot_abi, a_huge_file_of_somebody_else_is_refused_unread) {
    ASSERT_EQ(save(), KVI_OK);
    std::filesystem::resize_file(path, 0);
    std::filesystem::resize_file(path, std::uintmax_t{1} << 42); // of holes
    EXPECT_EQ(load(other), KVI_E_DAMAGED);
    EXPECT_EQ(slots_open(other), 0u);
}

TEST_F(snapshot_abi, wrong_arguments_are_refused) {
    const char* p = path.c_str();
    EXPECT_EQ(kvi_snapshot_save(nullptr, p, nullptr, 0, nullptr, 0, &info, nullptr, 0), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_snapshot_save(index, nullptr, nullptr, 0, nullptr, 0, &info, nullptr, 0), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_snapshot_save(index, "", nullptr, 0, nullptr, 0, &info, nullptr, 0), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_snapshot_save(index, p, nullptr, 1, nullptr, 0, &info, nullptr, 0), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_snapshot_save(index, p, nullptr, 0, nullptr, 1, &info, nullptr, 0), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_snapshot_save(index, p, marks.data(), KVI_MAX_WATERMARKS + 1, nullptr, 0, &info, nullptr, 0),
              KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_snapshot_save(index, p, nullptr, 0, slots.data(), KVI_MAX_SLOTS + 1, &info, nullptr, 0),
              KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_snapshot_save(index, p, nullptr, 0, nullptr, 0, nullptr, nullptr, 0), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_snapshot_save(index, p, nullptr, 0, nullptr, 0, &info, nullptr, 1), KVI_E_ARGUMENT);
    EXPECT_FALSE(std::filesystem::exists(path));
    EXPECT_EQ(kvi_snapshot_load(nullptr, p, nullptr, 0, nullptr, 0, &info, nullptr, 0), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_snapshot_load(other, nullptr, nullptr, 0, nullptr, 0, &info, nullptr, 0), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_snapshot_load(other, p, nullptr, 1, nullptr, 0, &info, nullptr, 0), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_snapshot_load(other, p, nullptr, 0, nullptr, 1, &info, nullptr, 0), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_snapshot_load(other, p, nullptr, 0, nullptr, 0, nullptr, nullptr, 0), KVI_E_ARGUMENT);
    EXPECT_EQ(kvi_snapshot_load(other, p, nullptr, 0, nullptr, 0, &info, nullptr, 1), KVI_E_ARGUMENT);
}

} // namespace
