/// Where the bytes of an index go, part by part. For measurements.
#pragma once

#include <cstdint>

namespace kvindex {

/// Bytes, and the counts that explain them. "empty" is room inside a piece that is in use, "idle" memory that
/// was given back (for reuse) or waits for readers to leave.
struct memory_parts {
    std::uint64_t content_words = 0; ///< 8 a block of the tree
    std::uint64_t content_empty = 0; ///< behind the ends of runs
    std::uint64_t content_idle = 0;

    std::uint64_t line_names = 0; ///< 8 a name
    std::uint64_t line_heads = 0; ///< 8 a line: run, step, plane
    std::uint64_t line_empty = 0; ///< 8 a place for a name
    std::uint64_t line_idle = 0;

    std::uint64_t map_entries = 0; ///< 6 a name: tag and number
    std::uint64_t map_heads = 0;   ///< 4 a line: filter and counts
    std::uint64_t map_empty = 0;   ///< 6 a place for an entry
    std::uint64_t map_directory = 0;
    std::uint64_t map_idle = 0;

    std::uint64_t ids_used = 0; ///< 4 a name line
    std::uint64_t ids_empty = 0;
    std::uint64_t ids_idle = 0;

    std::uint64_t child_entries = 0; ///< 8 a run
    std::uint64_t child_empty = 0;   ///< the counts of the lines included
    std::uint64_t child_idle = 0;

    std::uint64_t heads = 0; ///< 64 a run
    std::uint64_t colds = 0; ///< 64 a run
    std::uint64_t runs_idle = 0;

    std::uint64_t table_words = 0; ///< of runs with more than four holders: heads, bit sets and words in use
    std::uint64_t table_empty = 0;
    std::uint64_t table_idle = 0;

    std::uint64_t runs_of_slots = 0; ///< for clearing: 4 a (slot, run), with the room of the lists
    std::uint64_t extras = 0;        ///< holes, lower tiers, names of other domains; without the heap's own
    std::uint64_t orphans = 0;
    std::uint64_t decisions = 0;

    // Counts.
    std::uint64_t residencies = 0;
    std::uint64_t blocks = 0;
    std::uint64_t ghosts = 0;
    std::uint64_t runs = 0;
    std::uint64_t names = 0;
    std::uint64_t lines = 0;      ///< name lines in use
    std::uint64_t map_lines = 0;  ///< of ten entries each
    std::uint64_t tables = 0;     ///< runs with more than four holders
    std::uint64_t slot_runs = 0;  ///< (slot, run) pairs: holder words and bits
    std::uint64_t head_words = 0; ///< holder words in use in heads (32 bytes each head)
    std::uint64_t short_runs = 0; ///< of at most eight blocks
    std::uint64_t lone_lines = 0; ///< lines in use with one to three names

    std::uint64_t bytes() const {
        std::uint64_t sum = 0;
        for_each_part([&](const char*, std::uint64_t b) { sum += b; });
        return sum;
    }

    /// Calls f(name, bytes) for each part, in the order above.
    template <typename F>
    void for_each_part(F&& f) const {
        f("content words", content_words);
        f("content empty", content_empty);
        f("content idle", content_idle);
        f("name lines: names", line_names);
        f("name lines: heads", line_heads);
        f("name lines: empty", line_empty);
        f("name lines: idle", line_idle);
        f("name map: entries", map_entries);
        f("name map: heads", map_heads);
        f("name map: empty", map_empty);
        f("name map: directory", map_directory);
        f("name map: idle", map_idle);
        f("line ids: used", ids_used);
        f("line ids: empty", ids_empty);
        f("line ids: idle", ids_idle);
        f("child table: entries", child_entries);
        f("child table: empty", child_empty);
        f("child table: idle", child_idle);
        f("run heads", heads);
        f("run colds", colds);
        f("runs idle", runs_idle);
        f("holder tables: used", table_words);
        f("holder tables: empty", table_empty);
        f("holder tables: idle", table_idle);
        f("runs of slots", runs_of_slots);
        f("run extras", extras);
        f("orphans", orphans);
        f("decisions", decisions);
    }

    /// Calls f(name, count) for each count.
    template <typename F>
    void for_each_count(F&& f) const {
        f("residencies", residencies);
        f("blocks", blocks);
        f("ghosts", ghosts);
        f("runs", runs);
        f("names", names);
        f("name lines", lines);
        f("name map lines", map_lines);
        f("holder tables", tables);
        f("slot-run pairs", slot_runs);
        f("holder words in heads", head_words);
        f("runs of <= 8 blocks", short_runs);
        f("name lines of <= 3 names", lone_lines);
    }
};

} // namespace kvindex
