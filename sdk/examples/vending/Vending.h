// Vending.h: what all services of the fleet share: their arguments, their books, and waiting for the evening.
#pragma once

#include "patchbay/client/PushConsumer.h"

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <iostream>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <unistd.h>

namespace vending {

inline constexpr const char* kOrders = "VendingOrders";      // what customers want
inline constexpr const char* kPaid = "VendingPaid";          // transactional: it is there if and only if the money is
inline constexpr const char* kTimeouts = "VendingTimeouts";  // an order comes back here after a while
inline constexpr const char* kClicks = "VendingClicks";      // behaviour of customers; may get lost
inline constexpr const char* kConfig = "VendingConfig";      // to every device

/// A service's lines, each of which counts once: a message that comes twice is written once, also over a restart or a kill.
class Book {
public:
    explicit Book(const std::string& path) : path_(path), fd_(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)) {
        std::ifstream file(path);
        for (std::string line; std::getline(file, line);) lines_.insert(line);
    }
    ~Book() { ::close(fd_); }
    Book(const Book&) = delete;
    Book& operator=(const Book&) = delete;

    /// False when it could not be written; then the message has to come again.
    bool enter(std::string_view line) {
        const std::lock_guard lock(mutex_);
        if (lines_.contains(std::string(line))) return true;
        const auto text = std::string(line) + "\n";
        if (::write(fd_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) return false;
        lines_.insert(std::string(line));
        return true;
    }
    [[nodiscard]] bool has(std::string_view line) const {
        const std::lock_guard lock(mutex_);
        return lines_.contains(std::string(line));
    }

private:
    const std::string path_;
    const int fd_;
    mutable std::mutex mutex_;
    std::set<std::string> lines_;
};

/// <service> NAME-SERVERS FOLDER [more]
struct Service {
    Service(int argc, char** argv) {
        if (argc < 3) {
            std::cerr << argv[0] << " NAME-SERVERS FOLDER [more]\n";
            std::exit(2);
        }
        client.nameServers = argv[1];
        folder = argv[2];
        if (argc > 3) more = argv[3];
    }
    [[nodiscard]] std::string book(const std::string& name) const { return folder + "/" + name + ".book"; }
    [[nodiscard]] patchbay::client::ConsumerOptions consumer(const std::string& group) const {
        patchbay::client::ConsumerOptions options;
        options.client = client;
        options.group = "vending-" + group;
        options.from = patchbay::client::ConsumeFrom::FirstOffset;
        options.offsetInterval = std::chrono::milliseconds(500);
        return options;
    }

    patchbay::client::ClientOptions client;
    std::string folder;
    std::string more;
};

/// Until SIGTERM or SIGINT. Call prepare() before threads are started.
class Evening {
public:
    static void prepare() { ::pthread_sigmask(SIG_BLOCK, &signals(), nullptr); }
    static void wait() {
        int number = 0;
        ::sigwait(&signals(), &number);
    }

private:
    static const sigset_t& signals() {
        static const sigset_t set = [] {
            sigset_t made;
            ::sigemptyset(&made);
            ::sigaddset(&made, SIGTERM);
            ::sigaddset(&made, SIGINT);
            return made;
        }();
        return set;
    }
};

/// Prints what went wrong and ends the service: its supervisor starts it again.
inline void mustBe(const patchbay::Status& status) {
    if (status) return;
    std::cerr << status.toString() << '\n';
    std::exit(1);
}

/// A consumer that enters each message of a topic into a book.
inline int keepBook(const Service& service, const char* topic, const std::string& name) {
    Evening::prepare();
    Book book(service.book(name));
    auto consumer = patchbay::client::PushConsumer::create(service.consumer(name));
    mustBe(consumer.error());
    mustBe(consumer->subscribe(topic));
    mustBe(consumer->consume([&](auto messages, auto&) {
        for (const auto& message : messages) {
            if (!book.enter(message.body())) return patchbay::client::ConsumeResult::Later;
        }
        return patchbay::client::ConsumeResult::Success;
    }));
    Evening::wait();
    return 0;
}

}  // namespace vending
