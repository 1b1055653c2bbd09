// What push consumption by Apache's client costs a broker, and how soon messages come: called by tools/bench/push-consumption.
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendCallback;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;

/**
 * PushRate NAMESRV TOPIC RATE SECONDS: a producer and a consumer in one process. A tenth of the messages warms up; "begin" and "end" stand around the
 * others on standard output, and behind them how many came and their milliseconds from before the send to the listener.
 */
public class PushRate {
    private static final int BODY = 1024;

    public static void main(String[] args) throws Exception {
        String topic = args[1];
        int rate = Integer.parseInt(args[2]);
        int count = rate * Integer.parseInt(args[3]);
        int warm = count / 10;
        long[] late = new long[warm + count];
        AtomicInteger came = new AtomicInteger();
        AtomicInteger again = new AtomicInteger();
        AtomicInteger failed = new AtomicInteger();

        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(topic + "Group");
        consumer.setNamesrvAddr(args[0]);
        consumer.subscribe(topic, "*");
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            long now = System.nanoTime();
            for (MessageExt message : messages) {
                ByteBuffer body = ByteBuffer.wrap(message.getBody());
                int number = body.getInt();
                boolean first = late[number] == 0;
                if (first) late[number] = now - body.getLong();
                (first ? came : again).incrementAndGet();
            }
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        DefaultMQProducer producer = new DefaultMQProducer(topic + "Producer");
        producer.setNamesrvAddr(args[0]);
        producer.setSendMsgTimeout(20_000);
        producer.setRetryTimesWhenSendAsyncFailed(0);
        producer.start();
        consumer.start();
        // Until the consumer has its queues and the broker its long polls.
        Thread.sleep(5000);
        send(producer, topic, 0, warm, rate, failed);
        await(came, failed, warm);
        System.out.println("begin");
        send(producer, topic, warm, warm + count, rate, failed);
        await(came, failed, warm + count);
        System.out.println("end");
        long[] sorted = Arrays.copyOfRange(late, warm, warm + count);
        Arrays.sort(sorted);
        System.out.printf("{\"came\":%d,\"again\":%d,\"failed\":%d,\"p50_ms\":%.2f,\"p99_ms\":%.2f,\"p999_ms\":%.2f,\"max_ms\":%.2f}%n", came.get() - warm,
            again.get(), failed.get(), sorted[count / 2] / 1e6, sorted[(int) (count * 0.99)] / 1e6, sorted[(int) (count * 0.999)] / 1e6, sorted[count - 1] / 1e6);
        System.exit(0);
    }

    private static void send(DefaultMQProducer producer, String topic, int from, int to, int rate, AtomicInteger failed) throws Exception {
        SendCallback callback = new SendCallback() {
            @Override public void onSuccess(SendResult result) { }

            @Override public void onException(Throwable problem) { failed.incrementAndGet(); }
        };
        long begin = System.nanoTime();
        for (int i = from; i < to; i++) {
            long due = begin + (i - from) * 1_000_000_000L / rate;
            while (System.nanoTime() < due) LockSupport.parkNanos(50_000);
            ByteBuffer body = ByteBuffer.allocate(BODY);
            body.putInt(i).putLong(System.nanoTime());
            producer.send(new Message(topic, body.array()), callback);
        }
    }

    private static void await(AtomicInteger came, AtomicInteger failed, int count) throws InterruptedException {
        for (int i = 0; i < 600 && came.get() + failed.get() < count; i++) Thread.sleep(50);
    }
}
