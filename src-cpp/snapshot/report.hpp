/// What goes into a snapshot beside the index, and what came of saving or loading one. No behaviour.
#pragma once

#include "base/types.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kvindex {

/// How far a source of events had been applied; both numbers are the caller's.
struct watermark {
    std::uint64_t source = 0;
    std::uint64_t sequence = 0;

    bool operator==(const watermark&) const = default;
};

/// Whose a slot is, in the caller's words.
struct slot_label {
    slot_id slot{};
    std::uint32_t rank = 0;
    std::uint64_t worker = 0;
};

/// An open slot that came back.
struct restored_slot {
    slot_id slot{}; ///< the same handle as when it was saved
    std::uint32_t domain = 0;
    std::uint16_t name_space = 0;
    std::uint32_t rank = 0;
    std::uint64_t worker = 0; ///< 0, as the rank, when it was saved without a label
};

enum class snapshot_status : std::uint8_t {
    ok,
    damaged, ///< the file is refused: not one of ours, of another version, cut, or changed
    in_use,  ///< load(): the index had slots already
    no_room, ///< load(): more watermarks or slots than the caller takes
    failed   ///< the operating system refused to read or write
};

/// Most that the caller takes back from load().
struct load_room {
    std::size_t watermarks = 1u << 16; ///< as many as a snapshot may have
    std::size_t slots = max_slots;
};

struct snapshot_report {
    snapshot_status status = snapshot_status::ok;
    std::string message; ///< what is wrong and where; empty when ok
    std::uint64_t bytes = 0;
    std::uint64_t runs = 0;          ///< in the file
    std::uint64_t dropped_runs = 0;  ///< load(): went, or came, while it was saved: not in the index
    std::uint64_t dropped_names = 0; ///< load(): moved while it was saved: only the later place counts
    bool quiet = true;               ///< nothing changed while it was saved
    std::uint64_t longest_hold = 0;  ///< save(): nanoseconds that a writer could have to wait, at most
    std::vector<watermark> watermarks;
    std::vector<restored_slot> slots;
};

} // namespace kvindex
