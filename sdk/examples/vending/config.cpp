// The technicians: three new price lists for all devices.
#include "Vending.h"
#include "patchbay/client/Producer.h"

int main(int argc, char** argv) {
    const vending::Service service(argc, argv);
    vending::Book book(service.book("config"));
    auto producer = patchbay::client::Producer::create({.client = service.client, .group = "vending-config"});
    vending::mustBe(producer.error());
    for (const std::string list : {"prices 1", "prices 2", "prices 3"}) {
        vending::mustBe(producer->send({.topic = vending::kConfig, .body = list}).error());
        book.enter(list);
    }
    return 0;
}
