#include "SchemaCheck.h"

#include "patchbay/protocol/headers/SendMessage.h"
#include "patchbay/protocol/message/SysFlag.h"

namespace schema_check {

using namespace patchbay;
using protocol::RequestCode;

namespace {

constexpr plugin::ConfigKey kKeys[] = {
    {"schemaDirectory", plugin::ConfigType::Path, "schemas", "Directory of the schemas, TOPIC.json each; topics without one take everything."},
    {"schemaBytesMax", plugin::ConfigType::Bytes, "64K", "Longest body that is checked; longer ones are refused for topics with a schema.", 0, 1, 4 << 20},
};

}  // namespace

std::span<const plugin::ConfigKey> SchemaCheck::configKeys() const noexcept {
    return kKeys;
}

Status SchemaCheck::configure(const plugin::ConfigView& config) {
    directory_ = config.text("schemaDirectory");
    bytesMax_ = static_cast<std::size_t>(config.integer("schemaBytesMax"));
    return Status::ok();
}

Status SchemaCheck::init(plugin::PluginContext& context) {
    context_ = &context;
    refused_ = &context.metrics().counter("schema_check_refused_total", "Messages that were refused.");
    return context.interceptors().add("broker", plugin::Phase::Limit, 100, *this);
}

Status SchemaCheck::start() {
    auto read = Schemas::read(context_->files(), directory_);
    if (!read) return read.error();
    schemas_ = std::move(*read);
    return Status::ok();
}

Status SchemaCheck::look(const protocol::CommandView& command, std::string_view topic) const {
    if (command.body.size() > bytesMax_) return {StatusCode::InvalidArgument, "longer than schemaBytesMax"};
    protocol::SendMessageRequest header;
    if (!protocol::SendMessageRequest::parse(command, header)) return Status::ok();   // the send itself answers that
    if (header.batch || (header.sysFlag & protocol::kSysFlagCompressed) != 0) {
        return {StatusCode::InvalidArgument, "batches and compressed bodies cannot be checked; send messages one by one, uncompressed"};
    }
    return schemas_->check(topic, command.body);
}

plugin::Verdict SchemaCheck::intercept(const plugin::Interception& at) {
    const auto& command = *at.core.command;
    const auto code = static_cast<RequestCode>(command.code);
    const bool shortForm = code == RequestCode::SendMessageV2 || code == RequestCode::SendBatchMessage;
    if (!shortForm && code != RequestCode::SendMessage) return {};
    const auto topic = command.find(shortForm ? "b" : "topic").value_or(std::string_view());
    if (!schemas_ || !schemas_->has(topic)) return {};
    const auto status = look(command, topic);
    if (status) return {};
    refused_->add();
    return {plugin::Verdict::Kind::Answer,
            plugin::Response(protocol::ResponseCode::MessageIllegal, "the message does not fit the schema of topic " + std::string(topic) + ": " + status.message())};
}

}  // namespace schema_check
