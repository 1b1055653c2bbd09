// Families: metrics by name, on their way into Prometheus' text.
#pragma once

#include "patchbay/service/Observation.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <prometheus/metric_family.h>
#include <string>
#include <utility>
#include <vector>

namespace patchbay::plugins::metrics {

using prometheus::MetricType;
using Labels = std::vector<std::pair<std::string, std::string>>;

/// The families of one answer, in the order in which they were begun. Every metric gets the base labels in front of its own. One thread.
class Families {
public:
    explicit Families(Labels base = {}, std::size_t seriesMax = std::numeric_limits<std::size_t>::max()) : base_(std::move(base)), seriesMax_(seriesMax) {}

    void begin(std::string name, std::string help, MetricType type) {
        list_.emplace_back();
        list_.back().name = std::move(name);
        list_.back().help = std::move(help);
        list_.back().type = type;
    }
    void value(const Labels& labels, double value) {
        auto* const metric = add(labels);
        if (metric == nullptr) return;
        if (list_.back().type == MetricType::Counter) metric->counter.value = value;
        else metric->gauge.value = value;
    }
    void value(const Labels& labels, std::uint64_t number) { value(labels, static_cast<double>(number)); }
    void value(const Labels& labels, std::int64_t number) { value(labels, static_cast<double>(number)); }
    /// `bounds` are one less than `counts`, whose last is the rest.
    template <typename Counts, typename Bounds>
    void histogram(const Labels& labels, const Counts& counts, const Bounds& bounds, double unit, double sum) {
        auto* const metric = add(labels);
        if (metric == nullptr) return;
        auto& histogram = metric->histogram;
        std::uint64_t all = 0;
        for (std::size_t i = 0; i < counts.size(); ++i) {
            all += static_cast<std::uint64_t>(counts[i]);
            histogram.bucket.push_back({all, i == bounds.size() ? std::numeric_limits<double>::infinity() : static_cast<double>(bounds[i]) / unit});
        }
        histogram.sample_count = all;
        histogram.sample_sum = sum;
    }
    void histogram(const Labels& labels, const service::TimeHistogram& times, double unitUs = 1e6) {
        histogram(labels, times.counts, service::TimeHistogram::kBoundsUs, unitUs, static_cast<double>(times.sumUs) / unitUs);
    }
    void single(std::string name, std::string help, MetricType type, double number) {
        begin(std::move(name), std::move(help), type);
        value({}, number);
    }
    [[nodiscard]] const std::vector<prometheus::MetricFamily>& list() const noexcept { return list_; }
    /// Series that a family had no place for.
    [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }

private:
    prometheus::ClientMetric* add(const Labels& labels) {
        auto& metrics = list_.back().metric;
        if (metrics.size() >= seriesMax_) {
            ++dropped_;
            return nullptr;
        }
        auto& metric = metrics.emplace_back();
        for (const auto& [name, text] : base_) metric.label.push_back({name, text});
        for (const auto& [name, text] : labels) metric.label.push_back({name, text});
        return &metric;
    }

    const Labels base_;
    const std::size_t seriesMax_;
    std::vector<prometheus::MetricFamily> list_;
    std::uint64_t dropped_ = 0;
};

}  // namespace patchbay::plugins::metrics
