// UnfinishedFrames: who holds memory for frames that have not come whole.
#pragma once

namespace patchbay::net {

/// Can be in the list below; leaves it before it ends.
class FrameHolder {
public:
    /// Frees what it holds, at the latest by closing, and leaves the list.
    virtual void giveUp() noexcept = 0;

protected:
    virtual ~FrameHolder() = default;

private:
    friend class UnfinishedFrames;
    FrameHolder* older_ = nullptr;
    FrameHolder* newer_ = nullptr;
};

/// The connections of one loop that hold noticeable memory for an unfinished frame, in the order in which those frames began,
/// so that the slowest is found at once when memory is short. Owns nothing. Loop thread only.
class UnfinishedFrames {
public:
    void add(FrameHolder& who) noexcept {
        who.older_ = newest_;
        (newest_ != nullptr ? newest_->newer_ : oldest_) = &who;
        newest_ = &who;
    }
    void remove(FrameHolder& who) noexcept {
        (who.older_ != nullptr ? who.older_->newer_ : oldest_) = who.newer_;
        (who.newer_ != nullptr ? who.newer_->older_ : newest_) = who.older_;
        who.older_ = who.newer_ = nullptr;
    }
    [[nodiscard]] FrameHolder* oldest() const noexcept { return oldest_; }

private:
    FrameHolder* oldest_ = nullptr;
    FrameHolder* newest_ = nullptr;
};

}  // namespace patchbay::net
