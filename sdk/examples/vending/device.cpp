// A machine: takes every price list, and goes on where it was after a power cut.
//   device NAME-SERVERS FOLDER NAME
#include "Vending.h"

int main(int argc, char** argv) {
    const vending::Service service(argc, argv);
    vending::Evening::prepare();
    vending::Book book(service.book("config-" + service.more));
    auto options = service.consumer("devices");
    options.model = patchbay::client::ConsumerModel::Broadcasting;
    options.offsetDirectory = service.folder;
    options.client.instanceName = service.more;
    auto consumer = patchbay::client::PushConsumer::create(options);
    vending::mustBe(consumer.error());
    vending::mustBe(consumer->subscribe(vending::kConfig));
    vending::mustBe(consumer->consume([&](auto messages, auto&) {
        for (const auto& message : messages) book.enter(message.body());
        return patchbay::client::ConsumeResult::Success;
    }));
    vending::Evening::wait();
    return 0;
}
