// The auditor: compares the books of all services. Answers 0 when they balance.
//   books NAME-SERVERS FOLDER [quiet]
#include "Vending.h"

#include <algorithm>

namespace {

std::set<std::string> read(const vending::Service& service, const std::string& name) {
    std::set<std::string> lines;
    std::ifstream file(service.book(name));
    for (std::string line; std::getline(file, line);) lines.insert(line);
    return lines;
}

}  // namespace

int main(int argc, char** argv) {
    const vending::Service service(argc, argv);
    const bool quiet = service.more == "quiet";
    const auto orders = read(service, "orders");
    const auto paid = read(service, "paid");
    const auto cancelled = read(service, "cancelled");
    bool balanced = !orders.empty();
    const auto line = [&](const std::string& what, std::size_t is, bool good) {
        if (!quiet) std::cout << (good ? "  ok   " : "  OFF  ") << what << ": " << is << '\n';
        balanced = balanced && good;
    };
    std::set<std::string> settled = paid;
    settled.insert(cancelled.begin(), cancelled.end());
    line("orders", orders.size(), settled == orders);
    line("paid", paid.size(), paid.size() + cancelled.size() == orders.size());
    line("cancelled", cancelled.size(), std::none_of(cancelled.begin(), cancelled.end(), [&](const auto& order) { return paid.contains(order); }));
    for (const auto* name : {"stock", "door"}) {
        const auto book = read(service, name);
        line(name, book.size(), book == paid);
    }
    const auto erp = read(service, "erp");
    const auto isPaid = [&](const auto& order) { return paid.contains(order); };
    // Before the evening some of it lies with the dead letters.
    line("erp", erp.size(), service.more == "day" || quiet ? std::all_of(erp.begin(), erp.end(), isPaid) : erp == paid);
    const auto config = read(service, "config");
    for (const auto* device : {"north", "south"}) {
        const auto book = read(service, std::string("config-") + device);
        line(std::string("price lists at ") + device, book.size(), book == config);
    }
    if (!quiet) std::cout << "  " << read(service, "push").size() << " clicks noted\n" << (balanced ? "the books balance\n" : "the books DO NOT balance\n");
    return balanced ? 0 : 1;
}
