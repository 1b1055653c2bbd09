import java.io.FileWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.apache.rocketmq.client.consumer.DefaultMQPullConsumer;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.ConsumeOrderlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.consumer.listener.MessageListenerOrderly;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;
import org.apache.rocketmq.remoting.protocol.heartbeat.MessageModel;

/**
 * Consumption CASE NAMESRV: what groups of Apache's Java consumers go through. Prints "ok CASE", or "bad CASE" with what was wrong.
 * `member NAMESRV TOPIC GROUP FILE` is a consumer that writes what it got, until it is killed; `send NAMESRV TOPIC COUNT RATE` a producer.
 * The runner replaces the package of MessageModel for 4.x; what only 5.x has, or only its tools, is found by name.
 */
public final class Consumption {
    private static String namesrv;

    public static void main(String[] args) throws Exception {
        namesrv = args[1];
        String problem;
        switch (args[0]) {
            case "orderly": problem = orderly(); break;
            case "broadcast": problem = broadcast(); break;
            case "retry": problem = retry(); break;
            case "give-up": problem = giveUp(); break;
            case "tags": problem = tags(); break;
            case "late": problem = late(); break;
            case "reset": problem = reset(); break;
            case "assigned": problem = assigned(); break;
            case "begin": problem = begin(); break;
            case "member": member(args[2], args[3], args[4]); return;
            case "send": problem = send(args[2], Integer.parseInt(args[3]), Integer.parseInt(args[4])); break;
            default: problem = "no such case";
        }
        System.out.println(problem == null ? "ok " + args[0] : "bad " + args[0] + ": " + problem);
        Runtime.getRuntime().halt(problem == null ? 0 : 1);
    }

    // --- what the cases share ------------------------------------------------------------------------------------------

    private static DefaultMQPushConsumer consumer(String group, String instance, String topic, String tags) throws Exception {
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(group);
        consumer.setNamesrvAddr(namesrv);
        consumer.setInstanceName(instance + "-" + System.nanoTime());
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.subscribe(topic, tags);
        return consumer;
    }

    private static DefaultMQProducer producer(String group) throws Exception {
        DefaultMQProducer producer = new DefaultMQProducer(group);
        producer.setNamesrvAddr(namesrv);
        producer.setInstanceName(group + System.nanoTime());
        producer.start();
        return producer;
    }

    private static byte[] bytes(String text) { return text.getBytes(StandardCharsets.UTF_8); }
    private static String text(MessageExt message) { return new String(message.getBody(), StandardCharsets.UTF_8); }

    private static boolean await(int seconds, BooleanSupplier done) throws InterruptedException {
        for (int i = 0; i < seconds * 10 && !done.getAsBoolean(); i++) Thread.sleep(100);
        return done.getAsBoolean();
    }

    private static SendResult sendTo(DefaultMQProducer producer, Message message, int queue) throws Exception {
        for (int attempt = 0; ; attempt++) {
            try {
                return producer.send(message, (queues, m, arg) -> queues.get((Integer) arg % queues.size()), queue);
            } catch (Exception e) {
                if (attempt == 20) throw e;  // a topic that is just being made
                Thread.sleep(300);
            }
        }
    }

    // --- the cases ------------------------------------------------------------------------------------------------------

    /** Order holds per queue while members come and go; each message is handled at least once. */
    private static String orderly() throws Exception {
        String topic = "Orderly" + System.nanoTime();
        DefaultMQProducer producer = producer("OrderlyP");
        Map<Integer, List<Integer>> seen = new ConcurrentHashMap<>();
        Set<String> workers = ConcurrentHashMap.newKeySet();
        List<DefaultMQPushConsumer> members = new ArrayList<>();
        int next = 0;
        for (int round = 0; round < 4; round++) {
            if (round < 3) {
                String name = "m" + round;
                DefaultMQPushConsumer member = consumer("OrderlyG", name, topic, "*");
                member.registerMessageListener((MessageListenerOrderly) (messages, context) -> {
                    for (MessageExt m : messages) seen.computeIfAbsent(m.getQueueId(), q -> new ArrayList<>()).add(Integer.parseInt(text(m)));
                    workers.add(name);
                    return ConsumeOrderlyStatus.SUCCESS;
                });
                if (round == 0) sendTo(producer, new Message(topic, bytes(String.valueOf(next++))), 0);
                member.start();
                members.add(member);
            } else {
                members.remove(0).shutdown();
            }
            for (int i = 0; i < 200; i++) {
                sendTo(producer, new Message(topic, bytes(String.valueOf(next))), next);
                next++;
                Thread.sleep(20);
            }
        }
        int sent = next;
        boolean all = await(60, () -> seen.values().stream().mapToLong(l -> l.stream().distinct().count()).sum() >= sent);
        for (DefaultMQPushConsumer member : members) member.shutdown();
        if (!all) return "of " + sent + " came " + seen.values().stream().mapToLong(l -> l.stream().distinct().count()).sum();
        for (Map.Entry<Integer, List<Integer>> queue : seen.entrySet()) {
            int highest = -1;
            int before = -1;
            for (int number : queue.getValue()) {
                // A hand-over may repeat what was not committed yet, from there on in order again; a gap may never be.
                if (number > highest && highest >= 0 && number - highest > 64) return "queue " + queue.getKey() + " jumps from " + highest + " to " + number;
                if (number <= before && number > highest) return "queue " + queue.getKey() + " is out of order";
                highest = Math.max(highest, number);
                before = number;
            }
        }
        return workers.size() == 3 ? null : "only " + workers + " got messages";
    }

    /** Every member gets every message. */
    private static String broadcast() throws Exception {
        String topic = "Broadcast" + System.nanoTime();
        DefaultMQProducer producer = producer("BroadcastP");
        sendTo(producer, new Message(topic, bytes("first")), 0);
        List<Set<String>> got = new ArrayList<>();
        List<DefaultMQPushConsumer> members = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            Set<String> mine = ConcurrentHashMap.newKeySet();
            DefaultMQPushConsumer member = consumer("BroadcastG", "b" + i, topic, "*");
            member.setMessageModel(MessageModel.BROADCASTING);
            member.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
                messages.forEach(m -> mine.add(text(m)));
                return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
            });
            member.start();
            got.add(mine);
            members.add(member);
        }
        for (int i = 0; i < 50; i++) sendTo(producer, new Message(topic, bytes("m" + i)), i);
        boolean all = await(60, () -> got.stream().allMatch(set -> set.size() == 51));
        for (DefaultMQPushConsumer member : members) member.shutdown();
        return all ? null : got.get(0).size() + " and " + got.get(1).size() + " of 51";
    }

    /** A message that always fails is tried again as often as the consumer says, then lies in the dead letters, with its id and topic. */
    private static String retry() throws Exception {
        String topic = "Retry" + System.nanoTime();
        String group = "RetryG" + System.nanoTime();
        DefaultMQProducer producer = producer("RetryP");
        SendResult sent = sendTo(producer, new Message(topic, "TagA", "key", bytes("poison")), 0);
        for (int i = 0; i < 5; i++) sendTo(producer, new Message(topic, "TagA", "key", bytes("good" + i)), i);
        ConcurrentLinkedQueue<Integer> tries = new ConcurrentLinkedQueue<>();
        Set<String> good = ConcurrentHashMap.newKeySet();
        Set<String> ids = ConcurrentHashMap.newKeySet();
        DefaultMQPushConsumer member = consumer(group, "r", topic, "TagA");
        member.setMaxReconsumeTimes(2);
        member.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            for (MessageExt m : messages) {
                if (text(m).startsWith("good")) {
                    good.add(text(m));
                    continue;
                }
                if (!m.getTopic().equals(topic)) ids.add("topic " + m.getTopic());
                ids.add(m.getMsgId());
                tries.add(m.getReconsumeTimes());
                context.setDelayLevelWhenNextConsume(1);
                return ConsumeConcurrentlyStatus.RECONSUME_LATER;
            }
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        member.start();
        if (!await(60, () -> tries.size() >= 3 && good.size() == 5)) return "tries " + tries + ", good " + good;
        long lastFailure = System.currentTimeMillis();
        List<MessageExt> dead = new ArrayList<>();
        DefaultMQPushConsumer undertaker = consumer(group + "Dead", "u", "%DLQ%" + group, "*");
        undertaker.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            synchronized (dead) { dead.addAll(messages); }
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        undertaker.start();
        boolean came = await(60, () -> { synchronized (dead) { return !dead.isEmpty(); } });
        member.shutdown();
        undertaker.shutdown();
        if (!came) return "no dead letter";
        if (!List.of(0, 1, 2).equals(new ArrayList<>(tries))) return "tries " + tries;
        if (!ids.equals(Set.of(sent.getMsgId()))) return "ids " + ids + " instead of " + sent.getMsgId();
        MessageExt letter = dead.get(0);
        if (!topic.equals(letter.getProperty("RETRY_TOPIC"))) return "RETRY_TOPIC " + letter.getProperty("RETRY_TOPIC");
        if (!sent.getOffsetMsgId().equals(letter.getProperty("ORIGIN_MESSAGE_ID"))) return "ORIGIN_MESSAGE_ID " + letter.getProperty("ORIGIN_MESSAGE_ID");
        return letter.getStoreTimestamp() - lastFailure < 1000 ? null : "the dead letter waited " + (letter.getStoreTimestamp() - lastFailure) + " ms";
    }

    /** An orderly consumer that gives up does not block its queue: the message goes to the dead letters. */
    private static String giveUp() throws Exception {
        String topic = "GiveUp" + System.nanoTime();
        String group = "GiveUpG" + System.nanoTime();
        DefaultMQProducer producer = producer("GiveUpP");
        for (int i = 0; i < 3; i++) sendTo(producer, new Message(topic, bytes(i == 1 ? "poison" : "good" + i)), 0);
        ConcurrentLinkedQueue<String> seen = new ConcurrentLinkedQueue<>();
        DefaultMQPushConsumer member = consumer(group, "g", topic, "*");
        member.setMaxReconsumeTimes(1);
        member.registerMessageListener((MessageListenerOrderly) (messages, context) -> {
            MessageExt m = messages.get(0);
            seen.add(text(m) + m.getReconsumeTimes());
            context.setSuspendCurrentQueueTimeMillis(100);
            return text(m).equals("poison") ? ConsumeOrderlyStatus.SUSPEND_CURRENT_QUEUE_A_MOMENT : ConsumeOrderlyStatus.SUCCESS;
        });
        member.start();
        AtomicInteger dead = new AtomicInteger();
        boolean passed = await(60, () -> seen.contains("good20"));
        DefaultMQPushConsumer undertaker = consumer(group + "Dead", "u", "%DLQ%" + group, "*");
        undertaker.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            dead.addAndGet(messages.size());
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        undertaker.start();
        boolean came = await(60, () -> dead.get() > 0);
        member.shutdown();
        undertaker.shutdown();
        if (!passed) return "the queue stands still: " + seen;
        if (!came) return "no dead letter after " + seen;
        return List.of("good00", "poison0", "poison1", "good20").equals(new ArrayList<>(seen)) ? null : "tries " + seen;
    }

    /** Tags whose hashes are equal are told apart. */
    private static String tags() throws Exception {
        String topic = "Tags" + System.nanoTime();
        DefaultMQProducer producer = producer("TagsP");
        for (int i = 0; i < 40; i++) sendTo(producer, new Message(topic, i % 2 == 0 ? "Aa" : "BB", bytes((i % 2 == 0 ? "Aa" : "BB") + i)), i / 2);
        ConcurrentLinkedQueue<String> seen = new ConcurrentLinkedQueue<>();
        DefaultMQPushConsumer member = consumer("TagsG" + System.nanoTime(), "t", topic, "Aa || Cc");
        member.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            messages.forEach(m -> seen.add(text(m)));
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        member.start();
        boolean all = await(60, () -> seen.size() >= 20);
        Thread.sleep(1000);
        member.shutdown();
        return all && seen.size() == 20 && seen.stream().allMatch(s -> s.startsWith("Aa")) ? null : seen.toString();
    }

    /** A consumer of a thousandth gets its message at once, while another tag streams past. */
    private static String late() throws Exception {
        String topic = "Late" + System.nanoTime();
        DefaultMQProducer producer = producer("LateP");
        sendTo(producer, new Message(topic, "TagA", bytes("x")), 0);
        Map<String, Long> sentAt = new ConcurrentHashMap<>();
        ConcurrentLinkedQueue<Long> delays = new ConcurrentLinkedQueue<>();
        DefaultMQPushConsumer member = consumer("LateG" + System.nanoTime(), "l", topic, "TagB");
        member.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            for (MessageExt m : messages) delays.add(System.currentTimeMillis() - m.getBornTimestamp());
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        member.start();
        Thread.sleep(3000);
        AtomicInteger rare = new AtomicInteger();
        Thread stream = new Thread(() -> {
            try {
                DefaultMQProducer fast = producer("LateFastP");
                while (!Thread.currentThread().isInterrupted()) {
                    List<Message> batch = new ArrayList<>();
                    for (int i = 0; i < 100; i++) batch.add(new Message(topic, "TagA", bytes("filler")));
                    fast.send(batch);
                    Thread.sleep(10);
                }
            } catch (Exception ended) {
                return;
            }
        });
        stream.start();
        for (int i = 0; i < 20; i++) {
            Thread.sleep(500);
            sendTo(producer, new Message(topic, "TagB", bytes("rare" + i)), i);
            rare.incrementAndGet();
        }
        boolean all = await(30, () -> delays.size() >= rare.get());
        stream.interrupt();
        member.shutdown();
        List<Long> sorted = new ArrayList<>(delays);
        sorted.sort(null);
        // Half of them, because the machine may be busy with other things; a wake-up that is lost would cost fifteen seconds.
        boolean soon = all && sorted.get(sorted.size() / 2) < 100 && sorted.get(sorted.size() - 1) < 2000;
        return soon ? null : "delays in ms: " + sorted;
    }

    /** Offsets are turned back while members are on line and while they are not; and forward to the end. */
    private static String reset() throws Exception {
        String topic = "Reset" + System.nanoTime();
        String group = "ResetG" + System.nanoTime();
        DefaultMQProducer producer = producer("ResetP");
        for (int i = 0; i < 40; i++) sendTo(producer, new Message(topic, bytes("m" + i)), i);
        AtomicInteger count = new AtomicInteger();
        DefaultMQPushConsumer member = resetMember(topic, group, count);
        if (!await(60, () -> count.get() == 40)) return "first " + count;
        Thread.sleep(6000);  // committed
        admin("resetOffsetByTime", "-g", group, "-t", topic, "-s", "0", "-f", "true");
        if (!await(60, () -> count.get() == 80)) return "on line: " + count;
        Thread.sleep(6000);
        member.shutdown();
        count.set(0);
        admin("resetOffsetByTime", "-g", group, "-t", topic, "-s", "0", "-f", "true");
        member = resetMember(topic, group, count);
        if (!await(60, () -> count.get() == 40)) return "off line: " + count;
        member.shutdown();
        for (int i = 0; i < 40; i++) sendTo(producer, new Message(topic, bytes("skipped" + i)), i);
        count.set(0);
        admin("skipAccumulatedMessage", "-g", group, "-t", topic, "-f", "true");
        member = resetMember(topic, group, count);
        Thread.sleep(5000);
        sendTo(producer, new Message(topic, bytes("last")), 0);
        boolean came = await(30, () -> count.get() > 0);
        member.shutdown();
        return came && count.get() == 1 ? null : "after the end: " + count;
    }

    private static DefaultMQPushConsumer resetMember(String topic, String group, AtomicInteger count) throws Exception {
        DefaultMQPushConsumer member = consumer(group, "s", topic, "*");
        member.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            count.addAndGet(messages.size());
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        member.start();
        return member;
    }

    private static void admin(String... command) throws Exception {
        List<String> line = new ArrayList<>(List.of(command));
        line.addAll(List.of("-n", namesrv));
        Class<?> tool = Class.forName("org.apache.rocketmq.tools.command.MQAdminStartup");
        Class<?> hook = Class.forName("org.apache.rocketmq.remoting.RPCHook");
        tool.getMethod("main0", String[].class, hook).invoke(null, line.toArray(new String[0]), null);
    }

    /** Members that ask the broker for their queues share them. */
    private static String assigned() throws Exception {
        String topic = "Assigned" + System.nanoTime();
        DefaultMQProducer producer = producer("AssignedP");
        sendTo(producer, new Message(topic, bytes("first")), 0);
        Map<String, String> got = new ConcurrentHashMap<>();
        List<DefaultMQPushConsumer> members = new ArrayList<>();
        AtomicInteger handled = new AtomicInteger();
        for (int i = 0; i < 2; i++) {
            String name = "a" + i;
            DefaultMQPushConsumer member = consumer("AssignedG", name, topic, "*");
            member.getClass().getMethod("setClientRebalance", boolean.class).invoke(member, false);
            member.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
                for (MessageExt m : messages) got.put(text(m), name);
                handled.addAndGet(messages.size());
                return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
            });
            member.start();
            members.add(member);
        }
        Thread.sleep(5000);
        int before = handled.get();
        for (int i = 0; i < 80; i++) sendTo(producer, new Message(topic, bytes("m" + i)), i);
        boolean all = await(60, () -> got.size() == 81);
        Thread.sleep(1000);
        for (DefaultMQPushConsumer member : members) member.shutdown();
        if (!all) return got.size() + " of 81";
        if (handled.get() - before != 80) return (handled.get() - before) + " handled of 80 sent";
        return new java.util.HashSet<>(got.values()).size() == 2 ? null : "only " + new java.util.HashSet<>(got.values());
    }

    /**
     * New groups begin at the first message that is left, behind the last one, or at a time, on queues whose oldest messages are gone: on
     * others RocketMQ lets every new group begin at 0. The broker keeps a few megabytes only.
     */
    private static String begin() throws Exception {
        String topic = "Begin" + System.nanoTime();
        DefaultMQProducer producer = producer("BeginP");
        List<MessageQueue> queues = removeOldest(producer, topic);
        for (int i = 0; i < 16; i++) sendTo(producer, new Message(topic, bytes("before" + i)), i);
        Thread.sleep(2100);
        // Whole seconds are all that a client can say.
        String time = new java.text.SimpleDateFormat("yyyyMMddHHmmss").format(new java.util.Date());
        for (int i = 0; i < 16; i++) sendTo(producer, new Message(topic, bytes("after" + i)), i);
        Map<ConsumeFromWhere, Set<String>> got = new ConcurrentHashMap<>();
        List<DefaultMQPushConsumer> members = new ArrayList<>();
        for (ConsumeFromWhere where : List.of(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET, ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET,
                                              ConsumeFromWhere.CONSUME_FROM_TIMESTAMP)) {
            Set<String> mine = ConcurrentHashMap.newKeySet();
            DefaultMQPushConsumer member = consumer("BeginG" + where + System.nanoTime(), "w", topic, "*");
            member.setConsumeFromWhere(where);
            member.setConsumeTimestamp(time);
            member.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
                for (MessageExt m : messages) mine.add(m.getBody().length > 100 ? "old" + m.getQueueId() : text(m));
                return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
            });
            member.start();
            got.put(where, mine);
            members.add(member);
        }
        Thread.sleep(5000);
        for (int i = 0; i < 16; i++) sendTo(producer, new Message(topic, bytes("live" + i)), i);
        // Who begins at 0 is told that this is gone, and Apache's client waits for ten seconds before it goes on.
        Set<String> first = got.get(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET), last = got.get(ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET);
        Set<String> since = got.get(ConsumeFromWhere.CONSUME_FROM_TIMESTAMP);
        await(60, () -> first.size() >= 48 + queues.size() && last.size() >= 16 && since.size() >= 32);
        Thread.sleep(1000);
        for (DefaultMQPushConsumer member : members) member.shutdown();
        if (first.size() != 48 + queues.size()) return "from the first: " + first;
        if (last.size() != 16 || !last.contains("live0")) return "from the last: " + last;
        return since.size() == 32 && since.stream().noneMatch(s -> s.startsWith("before")) ? null : "since " + time + ": " + since;
    }

    /** Sends large messages until the first ones of all queues are gone. */
    private static List<MessageQueue> removeOldest(DefaultMQProducer producer, String topic) throws Exception {
        // The client compresses what can be compressed, and then nothing large would be stored.
        byte[] large = new byte[60_000];
        new java.util.Random(1).nextBytes(large);
        DefaultMQPullConsumer looks = new DefaultMQPullConsumer("BeginLooks");
        looks.setNamesrvAddr(namesrv);
        looks.start();
        try {
            for (int round = 0; round < 60; round++) {
                for (int i = 0; i < 80; i++) sendTo(producer, new Message(topic, large), i);
                Thread.sleep(1000);
                List<MessageQueue> queues = new ArrayList<>(looks.fetchSubscribeMessageQueues(topic));
                int moved = 0;
                for (MessageQueue queue : queues) if (looks.minOffset(queue) > 0) moved++;
                if (moved == queues.size()) return queues;
            }
        } finally {
            looks.shutdown();
        }
        throw new IllegalStateException("nothing is ever removed");
    }

    /** Handles messages until it is killed; a line per message. */
    private static void member(String topic, String group, String file) throws Exception {
        FileWriter out = new FileWriter(file, true);
        DefaultMQPushConsumer member = consumer(group, "k" + ProcessHandle.current().pid(), topic, "*");
        member.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            synchronized (out) {
                try {
                    for (MessageExt m : messages) out.write(text(m) + "\n");
                    out.flush();
                } catch (java.io.IOException e) {
                    return ConsumeConcurrentlyStatus.RECONSUME_LATER;
                }
            }
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        member.start();
        System.out.println("ok member");
        Thread.sleep(Long.MAX_VALUE);
    }

    private static String send(String topic, int count, int perSecond) throws Exception {
        DefaultMQProducer producer = producer("SendP");
        long begin = System.nanoTime();
        for (int i = 0; i < count; i++) {
            if (sendTo(producer, new Message(topic, bytes("m" + i)), i).getSendStatus() != SendStatus.SEND_OK) return "message " + i;
            long due = begin + i * 1_000_000_000L / perSecond;
            while (System.nanoTime() < due) Thread.sleep(1);
        }
        return null;
    }
}
