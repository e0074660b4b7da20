/// A damaged snapshot is refused, whatever the damage, and leaves the index as it was.
#include "kvindex/prefix_index.hpp"
#include "scratch_file.hpp"
#include "snapshot/checksum.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace kvindex::tests {
namespace {

using snapshot::section_head;
using snapshot::section_kind;

constexpr options tiny{.max_blocks = 1u << 16};

/// An index with some of everything: children, two domains, two name spaces, holes, tiers, names of one slot
/// alone, a block under two names, a closed slot.
void fill(prefix_index& index) {
    std::vector<slot_id> slots;
    for (const auto& [domain, space] : {std::pair{0u, 0u}, {0u, 0u}, {1u, 0u}, {0u, 3u}, {0u, 0u}}) {
        slots.push_back(*index.open_slot(domain, static_cast<std::uint16_t>(space)));
    }
    index.close_slot(slots[4]);
    const std::vector<local_hash> a{11, 12, 13, 14};
    const std::vector<local_hash> b{11, 12, 23};
    const std::vector<engine_hash> na{1, 2, 3, 4};
    const std::vector<engine_hash> nb{1, 2, 5};
    const std::vector<engine_hash> other{71, 72, 73};
    const std::vector<engine_hash> moved{3};
    const std::vector<engine_hash> twin{9, 8};
    const std::vector<event> events{
        stored_event{slots[0], tier::gpu, false, 0, na, a},
        stored_event{slots[1], tier::gpu, false, 0, nb, b},
        stored_event{slots[2], tier::host, false, 0, other, b},
        stored_event{slots[3], tier::gpu, false, 0, twin, {a.data(), 2}},
        stored_event{slots[1], tier::gpu, true, 1, moved, {a.data() + 3, 1}},
        stored_event{slots[0], tier::disk, false, 0, {twin.data(), 1}, {a.data(), 1}},
        removed_event{slots[0], tier::gpu, {na.data() + 1, 1}},
    };
    for (const event& e : events) {
        index.apply({&e, 1});
    }
    EXPECT_EQ(index.first_broken_invariant(), "");
}

bytes saved(const scratch_file& file) {
    prefix_index index(tiny);
    fill(index);
    const std::vector<watermark> marks{{7, 70}, {8, 80}};
    const std::vector<slot_label> labels{{slot_id{2}, 5, 1234567890123u}, {slot_id{4}, 6, 6}};
    const snapshot_report report = index.save(file.path(), marks, labels);
    EXPECT_EQ(report.message, "");
    EXPECT_TRUE(report.quiet);
    return file.read();
}

/// Loads these bytes; a refusal must have left the index empty and usable.
snapshot_report load(const scratch_file& file, const bytes& b) {
    file.write(b);
    prefix_index index(tiny);
    const snapshot_report report = index.load(file.path());
    if (report.status == snapshot_status::ok) {
        EXPECT_EQ(index.first_broken_invariant(), "");
    } else {
        const statistics s = index.stats();
        EXPECT_EQ(s.slots + s.blocks + s.runs + index.slot_bound(), 0u);
        EXPECT_EQ(index.open_slot(), slot_id{0});
    }
    return report;
}

/// Calls f(head, payload) for each section; both may be changed.
template <typename F>
void for_each_section(bytes& b, F&& f) {
    for (std::size_t at = sizeof(snapshot::file_head); at + sizeof(section_head) <= b.size();) {
        section_head head{};
        std::memcpy(&head, b.data() + at, sizeof head);
        const std::size_t next = at + sizeof head + head.bytes;
        std::vector<std::uint64_t> payload(head.bytes / 8);
        if (!payload.empty()) {
            std::memcpy(payload.data(), b.data() + at + sizeof head, head.bytes);
        }
        f(head, payload);
        head.checksum = snapshot::checksum_of(head, payload.data());
        std::memcpy(b.data() + at, &head, sizeof head);
        if (!payload.empty()) {
            std::memcpy(b.data() + at + sizeof head, payload.data(), payload.size() * 8);
        }
        at = next;
    }
}

/// Why a file is refused whose runs were changed by f(words), its checksums made right again.
template <typename F>
std::string refusal_of_runs(const scratch_file& file, bytes b, F&& f) {
    for_each_section(b, [&](section_head& head, std::vector<std::uint64_t>& payload) {
        if (head.kind == static_cast<std::uint32_t>(section_kind::runs)) {
            f(payload);
        }
    });
    const snapshot_report report = load(file, b);
    EXPECT_EQ(report.status, report.message.empty() ? snapshot_status::ok : snapshot_status::damaged);
    return report.message;
}

TEST(snapshot_damage, what_was_given_comes_back) {
    const scratch_file file;
    const snapshot_report report = load(file, saved(file));
    EXPECT_EQ(report.message, "");
    EXPECT_EQ(report.watermarks, (std::vector<watermark>{{7, 70}, {8, 80}}));
    ASSERT_EQ(report.slots.size(), 4u); // the fifth is closed
    EXPECT_EQ(report.slots[2].slot, slot_id{2});
    EXPECT_EQ(report.slots[2].domain, 1u);
    EXPECT_EQ(report.slots[2].rank, 5u);
    EXPECT_EQ(report.slots[2].worker, 1234567890123u);
    EXPECT_EQ(report.slots[3].name_space, 3u);
    EXPECT_EQ(report.slots[3].worker, 0u);
}

TEST(snapshot_damage, a_slot_keeps_its_incarnation_and_a_closed_one_its_count) {
    const scratch_file file;
    prefix_index index(tiny);
    const slot_id first = *index.open_slot();
    index.close_slot(first);
    const slot_id second = *index.open_slot();
    const slot_id other = *index.open_slot();
    index.close_slot(other);
    ASSERT_EQ(index.save(file.path(), {}, {}).status, snapshot_status::ok);
    prefix_index loaded(tiny);
    ASSERT_EQ(loaded.load(file.path()).status, snapshot_status::ok);
    EXPECT_FALSE(loaded.close_slot(first));
    EXPECT_EQ(loaded.open_slot(), index.open_slot());
    EXPECT_TRUE(loaded.close_slot(second));
}

TEST(snapshot_damage, a_cut_file_is_refused_wherever_it_is_cut) {
    const scratch_file file;
    const bytes whole = saved(file);
    for (std::size_t n = 0; n < whole.size(); n++) {
        const snapshot_report report = load(file, bytes(whole.begin(), whole.begin() + static_cast<long>(n)));
        ASSERT_EQ(report.status, snapshot_status::damaged) << "cut at " << n;
        ASSERT_NE(report.message.find("byte "), std::string::npos);
    }
    EXPECT_EQ(load(file, {}).message, "byte 0: the file is empty");
    bytes longer = whole;
    longer.push_back(0);
    EXPECT_NE(load(file, longer).message.find("behind the end"), std::string::npos);
    EXPECT_EQ(load(file, whole).status, snapshot_status::ok);
}

TEST(snapshot_damage, a_file_with_one_changed_bit_is_refused) {
    const scratch_file file;
    const bytes whole = saved(file);
    ASSERT_LT(whole.size(), 4096u);
    for (std::size_t i = 0; i < whole.size() * 8; i++) {
        bytes b = whole;
        b[i / 8] = static_cast<char>(b[i / 8] ^ 1 << (i % 8));
        ASSERT_EQ(load(file, b).status, snapshot_status::damaged) << "byte " << i / 8 << ", bit " << i % 8;
    }
}

TEST(snapshot_damage, another_version_is_refused_by_name) {
    const scratch_file file;
    bytes b = saved(file);
    b[8] = 2;
    EXPECT_EQ(load(file, b).message, "byte 8: a snapshot of version 2; this library reads version 1");
    b[0] = 'X';
    EXPECT_EQ(load(file, b).message, "byte 0: not a snapshot of this index");
}

/// Right checksums over wrong words: refused, or loaded into an index that is whole. Nothing else.
TEST(snapshot_damage, wrong_words_under_right_checksums_never_break_the_index) {
    const scratch_file file;
    const bytes whole = saved(file);
    std::size_t refused = 0;
    std::size_t loaded = 0;
    for (const bool quiet : {true, false}) {
        for (std::size_t i = sizeof(snapshot::file_head) * 8; i < whole.size() * 8; i++) {
            bytes b = whole;
            for_each_section(b, [&](section_head& head, std::vector<std::uint64_t>& payload) {
                if (head.kind == static_cast<std::uint32_t>(section_kind::end) && !quiet) {
                    payload[2] = 0;
                }
            });
            b[i / 8] = static_cast<char>(b[i / 8] ^ 1 << (i % 8));
            // Heads keep their lengths, or the sections could not be told apart.
            section_head head{};
            bool in_length = false;
            for (std::size_t at = sizeof(snapshot::file_head); at < whole.size();
                 at += sizeof head + head.bytes) {
                std::memcpy(&head, whole.data() + at, sizeof head);
                in_length = in_length || (i / 8 >= at + 16 && i / 8 < at + 24);
            }
            if (in_length) {
                continue;
            }
            for_each_section(b, [](section_head&, std::vector<std::uint64_t>&) {});
            const snapshot_report report = load(file, b);
            (report.status == snapshot_status::ok ? loaded : refused)++;
            ASSERT_FALSE(::testing::Test::HasFailure()) << "byte " << i / 8 << ", bit " << i % 8;
        }
    }
    EXPECT_GT(refused, 1000u);
    EXPECT_GT(loaded, 1000u); // hashes and names may be anything: here only the checksum could tell
}

TEST(snapshot_damage, what_runs_say_of_each_other_is_checked) {
    const scratch_file file;
    const bytes whole = saved(file);
    const auto refusal = [&](auto&& f) { return refusal_of_runs(file, whole, f); };
    const auto says = [](const std::string& message, const char* what) {
        return message.find(what) != std::string::npos ? std::string(what) : message;
    };
    // Record by record: where it begins, and where its parts do.
    const auto record = [](std::vector<std::uint64_t>& w, std::uint32_t n) {
        std::uint64_t* at = w.data();
        for (; n != 0; n--) {
            at += *at >> 32;
        }
        return at;
    };
    const auto len = [](const std::uint64_t* r) { return r[1] >> 48; };
    EXPECT_EQ(refusal([](auto&) {}), "");
    EXPECT_EQ(says(refusal([&](auto& w) { record(w, 0)[0] += 7; }), "out of its order"), "out of its order");
    EXPECT_EQ(says(refusal([&](auto& w) { record(w, 1)[1] = (record(w, 1)[1] >> 32 << 32) | 77; }),
                   "its parent is not there"),
              "its parent is not there");
    EXPECT_EQ(says(refusal([&](auto& w) {
                       record(w, 0)[1] = (record(w, 0)[1] >> 48 << 48) | (record(w, 1)[0] & 0xffffffff);
                   }),
                   "hangs in a ring"),
              "hangs in a ring");
    EXPECT_EQ(says(refusal([&](auto& w) { record(w, 1)[1] |= std::uint64_t{200} << 32; }), "its parent's end"),
              "its parent's end");
    EXPECT_EQ(says(refusal([&](auto& w) {
                       record(w, 1)[3] = record(w, 0)[3 + (record(w, 1)[1] >> 32 & 0xffff) + 1];
                   }),
                   "what its parent says already"),
              "what its parent says already");
    EXPECT_EQ(says(refusal([&](auto& w) {
                       std::uint64_t* names = record(w, 0) + 3 + len(record(w, 0)) + 1;
                       names[1] = names[0];
                   }),
                   "a name that another block has too"),
              "a name that another block has too");
    EXPECT_EQ(says(refusal([&](auto& w) {
                       std::uint64_t* names = record(w, 0) + 3 + len(record(w, 0)) + 1;
                       names[0] = 0;
                   }),
                   "a block that has no name"),
              "a block that has no name");
}

TEST(snapshot_damage, only_an_unused_index_takes_a_snapshot) {
    const scratch_file file;
    saved(file);
    prefix_index index(tiny);
    fill(index);
    const statistics before = index.stats();
    EXPECT_EQ(index.load(file.path()).status, snapshot_status::in_use);
    EXPECT_EQ(index.stats().residencies, before.residencies);
}

TEST(snapshot_damage, what_the_system_refuses_is_said) {
    const scratch_file file;
    prefix_index index(tiny);
    const snapshot_report missing = index.load(file.path());
    EXPECT_EQ(missing.status, snapshot_status::failed);
    EXPECT_NE(missing.message.find(file.path()), std::string::npos);
    EXPECT_EQ(index.load("/").status, snapshot_status::failed);
    EXPECT_EQ(index.save(file.path() + "/none/at/all", {}, {}).status, snapshot_status::failed);
    const std::vector<watermark> many(snapshot::most_watermarks + 1);
    EXPECT_EQ(index.save(file.path(), many, {}).status, snapshot_status::failed);
    EXPECT_FALSE(std::filesystem::exists(file.path()));
    EXPECT_FALSE(std::filesystem::exists(file.path() + ".part"));
}

} // namespace
} // namespace kvindex::tests
