// LabelChains: things that carry labels, found by one of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>

namespace patchbay::plugin {

/// Purpose: who looks for a label passes those that carry it and hardly any other, however many there are.
/// Things are chained through links that lie in them, so that one without labels, or with one, costs no memory besides; the table
/// of chains grows and shrinks with the links, and there is none while nothing has a label. Owns no thing: whoever does unchains it
/// before it goes. Neither moves nor is copied; not thread-safe.
template <typename Thing>
class LabelChains {
    struct Link {
        Link* next = nullptr;
        Link** back = nullptr;   // what points to this
        Thing* thing = nullptr;
        std::int32_t label = 0;
        std::uint32_t labels = 0;  // of its thing; in the first of its links only
    };

public:
    /// A thing's part, which has to stay where it is while it is chained. A label that is named twice counts once.
    class Links {
    public:
        Links(Thing& thing, std::span<const std::int32_t> labels) {
            if (labels.size() > 1) {
                many_ = std::make_unique<Link[]>(labels.size());
                const std::span<Link> links(many_.get(), labels.size());
                for (std::size_t i = 0; i < labels.size(); ++i) links[i].label = labels[i];
                std::ranges::sort(links, {}, &Link::label);
                const auto end = std::unique(links.begin(), links.end(), [](const Link& a, const Link& b) { return a.label == b.label; });
                links.front().labels = static_cast<std::uint32_t>(end - links.begin());
            } else if (labels.size() == 1) {
                one_.label = labels.front();
                one_.labels = 1;
            }
            for (Link& link : all()) link.thing = &thing;
        }
        Links(Links&&) = delete;
        Links& operator=(Links&&) = delete;
        ~Links() = default;

    private:
        friend class LabelChains;
        [[nodiscard]] std::span<Link> all() noexcept { return many_ ? std::span(many_.get(), many_[0].labels) : std::span(&one_, 1); }
        [[nodiscard]] std::size_t labels() const noexcept { return many_ ? many_[0].labels : one_.labels; }

        Link one_;
        std::unique_ptr<Link[]> many_;
    };

    LabelChains() noexcept = default;
    LabelChains(LabelChains&&) = delete;
    LabelChains& operator=(LabelChains&&) = delete;
    ~LabelChains() = default;

    /// What so many labels of a thing take beside it.
    [[nodiscard]] static constexpr std::size_t bytesOf(std::size_t labels) noexcept { return labels > 1 ? labels * sizeof(Link) : 0; }

    void chain(Links& links) {
        if (links.labels() != 0 && !chains_) {
            chains_ = std::make_unique<Link*[]>(1);
            size_ = 1;
        }
        ++things_;
        count_ += links.labels();
        fit();
        for (Link& link : links.all()) put(links.labels() == 0 ? unlabelled_ : chainOf(link.label), link);
    }
    void unchain(Links& links) noexcept {
        for (Link& link : links.all()) drop(link);
        --things_;
        count_ -= links.labels();
        fit();
    }
    [[nodiscard]] bool empty() const noexcept { return things_ == 0; }

    /// Each of these calls `look(Thing&)`, which must not chain or unchain; returns how many links were passed.
    template <typename Look>
    std::size_t eachUnlabelled(Look&& look) const {
        return walk(unlabelled_, [](const Link&) { return true; }, look);
    }
    template <typename Look>
    std::size_t eachWith(std::int32_t label, Look&& look) const {
        return chains_ ? walk(chainOf(label), [label](const Link& link) { return link.label == label; }, look) : 0;
    }
    /// All things, once each.
    template <typename Look>
    std::size_t each(Look&& look) const {
        std::size_t passed = eachUnlabelled(look);
        for (std::size_t i = 0; i < size_; ++i) passed += walk(chains_[i], [](const Link& link) { return link.labels != 0; }, look);
        return passed;
    }

private:
    static constexpr std::size_t kLinksPerChain = 2;
    static constexpr std::size_t kGrowth = 4;

    template <typename Which, typename Look>
    static std::size_t walk(const Link* link, Which&& which, Look& look) {
        std::size_t passed = 0;
        for (; link != nullptr; link = link->next, ++passed) {
            if (which(*link)) look(*link->thing);
        }
        return passed;
    }
    static void put(Link*& head, Link& link) noexcept {
        link.next = head;
        link.back = &head;
        if (head != nullptr) head->back = &link.next;
        head = &link;
    }
    static void drop(Link& link) noexcept {
        *link.back = link.next;
        if (link.next != nullptr) link.next->back = link.back;
    }
    [[nodiscard]] Link*& chainOf(std::int32_t label) const noexcept {
        // Hashes of similar tags differ in a few bits; all of them reach those of the product that are taken.
        return chains_[((static_cast<std::uint32_t>(label) * 0x9E3779B97F4A7C15ULL) >> 40) & (size_ - 1)];
    }
    /// Gives the table the size for its links. Where there is no memory for another one, the old one stays, and is slower.
    void fit() noexcept {
        std::size_t size = size_;
        while (count_ > size * kLinksPerChain && size != 0) size *= kGrowth;
        // Far below what makes it grow, so that it does not go to and fro.
        while (size > 1 && count_ * kGrowth * kGrowth < size * kLinksPerChain) size /= kGrowth;
        if (size == size_) return;
        std::unique_ptr<Link*[]> chains(new (std::nothrow) Link*[size]());
        if (!chains) return;
        chains.swap(chains_);
        std::swap(size, size_);
        for (std::size_t i = 0; i < size; ++i) {
            for (Link* link = chains[i]; link != nullptr;) {
                Link* const next = link->next;
                put(chainOf(link->label), *link);
                link = next;
            }
        }
    }

    Link* unlabelled_ = nullptr;
    std::unique_ptr<Link*[]> chains_;
    std::size_t size_ = 0;     // of the table, a power of kGrowth or 0
    std::size_t count_ = 0;    // links in it
    std::size_t things_ = 0;
};

}  // namespace patchbay::plugin
