/// Saving and loading: which part of it holds the writers' mutex, and for how long.
#include "facade/state.hpp"
#include "snapshot/builder.hpp"
#include "snapshot/dump.hpp"
#include "snapshot/failure.hpp"

namespace kvindex {
namespace {

// Half of what a writer may have to wait for: the clock is looked at between two runs.
constexpr std::chrono::microseconds slice{100};

snapshot_report refusal(snapshot_status status, const char* why) {
    snapshot_report report;
    report.status = status;
    report.message = why;
    return report;
}

/// Holds the writers' mutex and notes the longest time that it was held.
class slice_lock {
public:
    slice_lock(writers_mutex& mutex, std::uint64_t& longest)
        : m_alone(mutex), m_longest(longest), m_begin(snapshot::dump::clock::now()) {
    }
    slice_lock(const slice_lock&) = delete;
    slice_lock& operator=(const slice_lock&) = delete;

    ~slice_lock() {
        const auto held = std::chrono::nanoseconds(snapshot::dump::clock::now() - m_begin).count();
        m_longest = std::max(m_longest, static_cast<std::uint64_t>(held));
    }

private:
    std::lock_guard<writers_mutex> m_alone;
    std::uint64_t& m_longest;
    snapshot::dump::clock::time_point m_begin;
};

} // namespace

/// One save, from beginning to end.
class prefix_index::saver {
public:
    saver(state& s, snapshot_report& report, const std::function<void()>& between)
        : m_state(s), m_report(report), m_between(between) {
    }

    void save(const std::string& path, std::span<const watermark> marks, std::span<const slot_label> labels) {
        if (marks.size() > snapshot::most_watermarks) {
            throw snapshot::failed("more watermarks than a snapshot may have");
        }
        snapshot::output_file file(path);
        file.write_section(snapshot::section_kind::watermarks, 0, std::as_bytes(marks));
        begin();
        snapshot::dump dump(file);
        for (std::uint32_t part = 0; part < m_pins.size(); part++) {
            save_runs(dump, part);
        }
        const std::vector<snapshot::slot_record> slots = end(labels);
        m_pins.clear(); // writing to disk may take long: what became free may be used again from here on
        file.write_section(snapshot::section_kind::slots, 0, std::as_bytes(std::span(slots)));
        const snapshot::end_record end{file.bytes(), dump.runs(), m_report.quiet ? 1u : 0u};
        file.write_section(snapshot::section_kind::end, 0, std::as_bytes(std::span(&end, 1)));
        file.finish();
        m_report.bytes = file.bytes();
        m_report.runs = dump.runs();
    }

private:
    using pin = sync::epoch_domain<>::pin;

    void begin() {
        const slice_lock alone(m_state.writers, m_report.longest_hold);
        m_slots = m_state.slots;
        m_changes = m_state.changes;
        const std::uint32_t made = m_state.cores_made.load(std::memory_order_relaxed);
        for (std::uint32_t i = 0; i < made; i++) {
            // Under the mutex, so that it is the writer's present epoch.
            m_pins.push_back(std::make_unique<pin>(m_state.cores[i]->view().epochs()));
        }
    }

    void save_runs(snapshot::dump& dump, std::uint32_t part) {
        bool first = true;
        bool more = true;
        while (more) {
            {
                const slice_lock alone(m_state.writers, m_report.longest_hold);
                if (first) {
                    dump.begin(*m_state.cores[part], part);
                    first = false;
                }
                const auto now = snapshot::dump::clock::now();
                more = dump.take(m_between ? now : now + slice);
            }
            dump.flush(!more);
            m_state.writers.let_others();
            if (m_between) {
                m_between();
            }
        }
    }

    /// The slots as they go into the file: open are those that were so all the time.
    std::vector<snapshot::slot_record> end(std::span<const slot_label> labels) {
        const slice_lock alone(m_state.writers, m_report.longest_hold);
        m_report.quiet = m_changes == m_state.changes;
        const auto& slots = m_state.slots;
        std::vector<snapshot::slot_record> records(slots.size());
        for (std::uint32_t i = 0; i < slots.size(); i++) {
            const state::slot_state& s = slots[i];
            const bool stayed = s.open && !s.approximate && i < m_slots.size() && m_slots[i].open &&
                                m_slots[i].incarnation == s.incarnation;
            // A slot that came meanwhile is closed in the file: nothing of it may be taken for its successor's.
            const std::uint32_t incarnation = s.incarnation + (s.open && !stayed ? 1 : 0);
            records[i].slot = incarnation << slot_number_bits | i;
            if (stayed) {
                records[i].open = 1;
                records[i].domain = s.domain;
                records[i].name_space = s.name_space;
            }
        }
        for (const slot_label& l : labels) {
            const std::uint32_t i = number_of(l.slot);
            if (i < records.size() && records[i].open != 0 &&
                records[i].slot == static_cast<std::uint32_t>(l.slot)) {
                records[i].rank = l.rank;
                records[i].worker = l.worker;
            }
        }
        return records;
    }

    state& m_state;
    snapshot_report& m_report;
    const std::function<void()>& m_between;
    std::vector<std::unique_ptr<pin>> m_pins;
    std::vector<state::slot_state> m_slots;
    std::uint64_t m_changes = 0;
};

snapshot_report prefix_index::save(const std::string& path, std::span<const watermark> marks,
                                   std::span<const slot_label> labels,
                                   const std::function<void()>& between) const {
    const std::lock_guard one(m_state->saving);
    snapshot_report report;
    try {
        saver(*m_state, report, between).save(path, marks, labels);
    } catch (const snapshot::failed& no) {
        report = refusal(snapshot_status::failed, no.what());
    }
    return report;
}

snapshot_report prefix_index::load(const std::string& path, const load_room& room) {
    snapshot_report report;
    if (!m_state->slots.empty()) {
        report.status = snapshot_status::in_use;
        report.message = "the index has had slots: a snapshot goes into a new one";
        return report;
    }
    try {
        const snapshot::input_file file(path);
        const auto open = std::count_if(file.slots().begin(), file.slots().end(),
                                        [](const snapshot::slot_record& s) { return s.open != 0; });
        if (file.watermarks().size() > room.watermarks || static_cast<std::size_t>(open) > room.slots) {
            return refusal(snapshot_status::no_room, "more watermarks or slots than there is room for");
        }
        // Beside the index in use, which stays as it is until all went well.
        auto made = std::make_unique<state>(m_state->made_with);
        const auto slots = static_cast<std::uint32_t>(file.slots().size());
        const std::uint32_t cores = std::max((slots + slots_per_core - 1) / slots_per_core, file.parts());
        while (made->cores_made.load(std::memory_order_relaxed) < cores) {
            made->add_core();
        }
        for (const snapshot::slot_record& s : file.slots()) {
            const std::uint32_t number = number_of(slot_id{s.slot});
            made->slots.push_back({incarnation_of(slot_id{s.slot}), s.open != 0, s.domain, s.name_space});
            if (s.open != 0) {
                made->cores[number / slots_per_core]->open_slot(number % slots_per_core, s.domain,
                                                                s.name_space);
                report.slots.push_back({slot_id{s.slot}, s.domain, s.name_space, s.rank, s.worker});
            }
        }
        for (std::uint32_t part = 0; part < file.parts(); part++) {
            snapshot::builder builder(file, part, *made->cores[part]);
            builder.build();
            report.runs += file.runs(part).size();
            report.dropped_runs += builder.dropped_runs();
            report.dropped_names += builder.dropped_names();
        }
        report.watermarks = file.watermarks();
        report.quiet = file.quiet();
        report.bytes = file.bytes();
        m_state = std::move(made);
    } catch (const snapshot::damaged& no) {
        report = refusal(snapshot_status::damaged, no.what());
    } catch (const snapshot::failed& no) {
        report = refusal(snapshot_status::failed, no.what());
    }
    return report;
}

} // namespace kvindex
