import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.rocketmq.client.consumer.DefaultMQPullConsumer;
import org.apache.rocketmq.client.consumer.PullResult;
import org.apache.rocketmq.client.consumer.PullStatus;
import org.apache.rocketmq.client.exception.MQClientException;
import org.apache.rocketmq.client.producer.LocalTransactionState;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.client.producer.TransactionListener;
import org.apache.rocketmq.client.producer.TransactionMQProducer;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageConst;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * StoreSwap send|check NAMESRV FILE: sends a message of each kind that a store knows, reads all queues back, checks that what was sent is
 * there and writes down everything about every message; or reads again and compares. Topics: SwapPlain (4 queues) and SwapBatch (2 queues,
 * queue.type=BatchCQ). Exit status 0 when all was as it should be.
 */
public final class StoreSwap {
    private static final String BROKER = "broker-a";
    /** Longer than a signed byte counts: its retry topic needs the second version of a record. */
    private static final String LONG_GROUP = "SwapGroup" + "x".repeat(140);
    private static final String DELAYED = "delayed";

    /** Of what was sent and can be read: key and body. */
    private static final Map<String, String> sent = new HashMap<>();

    public static void main(String[] args) throws Exception {
        String mode = args[0], namesrv = args[1];
        Path file = Path.of(args[2]);
        DefaultMQPullConsumer consumer = new DefaultMQPullConsumer(LONG_GROUP);
        consumer.setNamesrvAddr(namesrv);
        consumer.setClientIP("127.0.0.1");
        consumer.start();
        awaitRoute(consumer);
        String problem = "";
        if (mode.equals("send")) {
            send(namesrv);
            sendBack(consumer);
            List<String> found = readAll(consumer);
            problem = missing(found);
            Files.write(file, found);
        } else {
            problem = difference(Files.readAllLines(file), readAll(consumer));
        }
        System.out.println(problem.isEmpty() ? "ok " + mode + " " + Files.readAllLines(file).size() : "bad " + mode + ": " + problem);
        Runtime.getRuntime().halt(problem.isEmpty() ? 0 : 1);
    }

    /** A broker tells the name server of its topics a while after its port is open. */
    private static void awaitRoute(DefaultMQPullConsumer consumer) throws Exception {
        for (long end = System.nanoTime() + 60_000_000_000L; ; Thread.sleep(200)) {
            try {
                if (!consumer.fetchSubscribeMessageQueues("SwapPlain").isEmpty()) return;
            } catch (MQClientException unknown) {
                if (System.nanoTime() > end) throw unknown;
            }
        }
    }

    private static Message message(String topic, String key, String body) {
        Message message = new Message(topic, "Tag" + key.length() % 3, key, body.getBytes(StandardCharsets.UTF_8));
        message.setFlag(key.hashCode());
        message.putUserProperty("name", key);
        sent.put(key, body);
        return message;
    }

    private static void send(String namesrv) throws Exception {
        TransactionMQProducer producer = new TransactionMQProducer("swap-producer");
        producer.setNamesrvAddr(namesrv);
        producer.setClientIP("127.0.0.1");
        producer.setSendMsgTimeout(10_000);
        producer.setTransactionListener(new TransactionListener() {
            @Override public LocalTransactionState executeLocalTransaction(Message message, Object decision) {
                return (LocalTransactionState) decision;
            }
            @Override public LocalTransactionState checkLocalTransaction(MessageExt message) {
                return LocalTransactionState.UNKNOW;
            }
        });
        producer.start();
        List<MessageQueue> batchQueues = producer.fetchPublishMessageQueues("SwapBatch");
        for (int i = 0; i < 200; i++) {
            stored(producer.send(message("SwapPlain", "single-" + i, "body ".repeat(i) + i)).getSendStatus());
            if (i % 10 == 0) {
                List<Message> batch = new ArrayList<>();
                for (int k = 0; k < 7; k++) batch.add(message("SwapPlain", "batch-" + i + "-" + k, "part " + k));
                stored(producer.send(batch).getSendStatus());
            }
            if (i % 4 == 0) {
                List<Message> inner = new ArrayList<>();
                for (int k = 0; k <= i % 9; k++) inner.add(message("SwapBatch", "inner-" + i + "-" + k, "inner " + k));
                stored(producer.send(inner, batchQueues.get(i / 4 % batchQueues.size())).getSendStatus());
            }
            if (i % 20 == 0) stored(producer.send(message("SwapBatch", "alone-" + i, "alone")).getSendStatus());
            if (i % 5 == 0) {
                Message further = message("SwapPlain", "further-" + i, "in several queues");
                further.putUserProperty(MessageConst.PROPERTY_INNER_MULTI_DISPATCH, i % 10 == 0 ? "%LMQ%swap1,%LMQ%swap2" : "%LMQ%swap2");
                stored(producer.send(further).getSendStatus());
            }
            if (i % 50 == 0) {
                Message delayed = message("SwapPlain", DELAYED + i, "in two hours");
                delayed.setDelayTimeLevel(18);
                stored(producer.send(delayed).getSendStatus());
                for (LocalTransactionState state : LocalTransactionState.values()) {
                    producer.sendMessageInTransaction(message("SwapPlain", "half-" + state + "-" + i, "transaction"), state);
                }
            }
        }
        producer.shutdown();
    }

    /** Makes a retry topic with a long name: what comes back is stored there after a second. */
    private static void sendBack(DefaultMQPullConsumer consumer) throws Exception {
        MessageQueue queue = new MessageQueue("SwapPlain", BROKER, 0);
        PullResult pulled = consumer.pull(queue, "*", 0, 3);
        for (MessageExt message : pulled.getMsgFoundList()) consumer.sendMessageBack(message, 1);
        MessageQueue retries = new MessageQueue("%RETRY%" + LONG_GROUP, BROKER, 0);
        long end = System.nanoTime() + 30_000_000_000L;
        while (consumer.maxOffset(retries) < 3) {
            if (System.nanoTime() > end) throw new IllegalStateException("what was sent back did not come");
            Thread.sleep(100);
        }
    }

    private static void stored(SendStatus status) {
        if (status != SendStatus.SEND_OK) throw new IllegalStateException("not stored: " + status);
    }

    private static List<MessageQueue> queues() {
        List<MessageQueue> queues = new ArrayList<>();
        for (int i = 0; i < 4; i++) queues.add(new MessageQueue("SwapPlain", BROKER, i));
        for (int i = 0; i < 2; i++) queues.add(new MessageQueue("SwapBatch", BROKER, i));
        for (String topic : new String[] {"%LMQ%swap1", "%LMQ%swap2", "%RETRY%" + LONG_GROUP, "RMQ_SYS_TRANS_HALF_TOPIC"}) {
            queues.add(new MessageQueue(topic, BROKER, 0));
        }
        queues.add(new MessageQueue("SCHEDULE_TOPIC_XXXX", BROKER, 17));
        return queues;
    }

    /** A line for each message of each queue, with everything that a client learns of it. */
    private static List<String> readAll(DefaultMQPullConsumer consumer) throws Exception {
        List<String> lines = new ArrayList<>();
        for (MessageQueue queue : queues()) {
            long max = consumer.maxOffset(queue);
            lines.add(queue.getTopic() + " " + queue.getQueueId() + " ends at " + max);
            for (long offset = 0; offset < max; ) {
                PullResult pulled = consumer.pull(queue, "*", offset, 32);
                if (pulled.getPullStatus() != PullStatus.FOUND) throw new IllegalStateException(queue + " at " + offset + ": " + pulled.getPullStatus());
                for (MessageExt message : pulled.getMsgFoundList()) lines.add(line(queue, message));
                offset = pulled.getNextBeginOffset();
            }
        }
        return lines;
    }

    private static String line(MessageQueue queue, MessageExt message) throws Exception {
        Map<String, String> properties = new TreeMap<>(message.getProperties());
        // The client adds these itself, from the answer.
        properties.remove(MessageConst.PROPERTY_MIN_OFFSET);
        properties.remove(MessageConst.PROPERTY_MAX_OFFSET);
        String digest = HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(message.getBody()));
        return String.join("|", queue.getTopic(), "" + queue.getQueueId(), "" + message.getQueueOffset(), message.getTopic(), "" + message.getQueueId(),
            "" + message.getCommitLogOffset(), message.getMsgId(), "" + message.getFlag(), "" + message.getSysFlag(), "" + message.getBodyCRC(),
            "" + message.getBornTimestamp(), "" + message.getBornHost(), "" + message.getStoreTimestamp(), "" + message.getStoreHost(),
            "" + message.getReconsumeTimes(), "" + message.getPreparedTransactionOffset(), "" + message.getStoreSize(), digest, properties.toString());
    }

    /** What was sent and is in no line, or in too many. */
    private static String missing(List<String> lines) {
        Map<String, Integer> seen = new HashMap<>();
        for (String line : lines) {
            int from = line.indexOf("name=");
            if (from < 0 || !line.startsWith("Swap")) continue;
            int end = from + 5;
            while (end < line.length() && ",}".indexOf(line.charAt(end)) < 0) end++;
            seen.merge(line.substring(from + 5, end), 1, Integer::sum);
        }
        List<String> wrong = new ArrayList<>();
        for (String key : sent.keySet()) {
            boolean hidden = key.startsWith(DELAYED) || key.startsWith("half-") && !key.startsWith("half-" + LocalTransactionState.COMMIT_MESSAGE);
            if (seen.getOrDefault(key, 0) != (hidden ? 0 : 1)) wrong.add(key + " is there " + seen.getOrDefault(key, 0) + " times");
        }
        return wrong.isEmpty() ? "" : wrong.size() + " of " + sent.size() + " sent: " + wrong.subList(0, Math.min(3, wrong.size()));
    }

    private static String difference(List<String> expected, List<String> found) throws IOException {
        for (int i = 0; i < Math.max(expected.size(), found.size()); i++) {
            String before = i < expected.size() ? expected.get(i) : "nothing", now = i < found.size() ? found.get(i) : "nothing";
            if (!before.equals(now)) return "line " + i + " was " + before + " and is " + now;
        }
        return "";
    }
}
