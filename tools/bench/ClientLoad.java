import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendCallback;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;

/** The modes of client_load.cpp with Apache's client. Asynchronous sends have 10,000 under way, as many as the other has by default. */
public final class ClientLoad {
    private static final OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private static final byte[] body = new byte[1024];

    private static void print(long count, long wall, long cpu, String more) {
        double took = (System.nanoTime() - wall) * 1e-9, used = (system.getProcessCpuTime() - cpu) * 1e-9;
        System.out.printf("{\"msgs_per_s\":%.0f,\"cpu_s_per_million\":%.3f%s}%n", count / took, used / count * 1e6, more);
    }

    private static DefaultMQProducer producer(String namesrv) throws Exception {
        DefaultMQProducer producer = new DefaultMQProducer("client-load");
        producer.setNamesrvAddr(namesrv);
        producer.setClientIP("127.0.0.1");
        producer.setSendMsgTimeout(10_000);
        producer.start();
        return producer;
    }

    private static void sync(DefaultMQProducer producer, String topic, int count) throws Exception {
        for (int i = 0; i < count / 5; i++) producer.send(new Message(topic, body));
        double[] times = new double[count];
        long wall = System.nanoTime(), cpu = system.getProcessCpuTime();
        for (int i = 0; i < count; i++) {
            long begun = System.nanoTime();
            producer.send(new Message(topic, body));
            times[i] = (System.nanoTime() - begun) / 1e3;
        }
        Arrays.sort(times);
        print(count, wall, cpu, String.format(",\"p50_us\":%.1f,\"p99_us\":%.1f", times[count / 2], times[count * 99 / 100]));
    }

    private static void async(DefaultMQProducer producer, String topic, int count) throws Exception {
        Semaphore places = new Semaphore(10_000);
        for (int i = 0; i < count; i++) {
            places.acquire();
            producer.send(new Message(topic, body), new SendCallback() {
                @Override public void onSuccess(SendResult result) { places.release(); }
                @Override public void onException(Throwable failure) {
                    System.err.println("ClientLoad: " + failure);
                    Runtime.getRuntime().halt(1);
                }
            });
        }
        places.acquire(10_000);
    }

    private static void push(String namesrv, String topic, int count) throws Exception {
        AtomicLong seen = new AtomicLong();
        CountDownLatch warm = new CountDownLatch(1), all = new CountDownLatch(1);
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer("client-load-java-" + topic);
        consumer.setNamesrvAddr(namesrv);
        consumer.setClientIP("127.0.0.1");
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.subscribe(topic, "*");
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            for (int i = 0; i < messages.size(); i++) {
                long now = seen.incrementAndGet();
                if (now == count / 5) warm.countDown();
                if (now == count) all.countDown();
            }
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
        warm.await();
        long wall = System.nanoTime(), cpu = system.getProcessCpuTime(), before = seen.get();
        all.await();
        print(count - before, wall, cpu, "");
    }

    private static long kilobytes(String name) throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith(name + ":")) return Long.parseLong(line.replaceAll("\\D", ""));
        }
        return 0;
    }

    public static void main(String[] args) throws Exception {
        String mode = args[0], namesrv = args[1], topic = args[2];
        int count = Integer.parseInt(args[3]);
        if (mode.equals("push")) {
            push(namesrv, topic, count);
        } else {
            DefaultMQProducer producer = producer(namesrv);
            if (mode.equals("sync")) sync(producer, topic, count);
            if (mode.equals("async")) {
                async(producer, topic, count / 5);
                long wall = System.nanoTime(), cpu = system.getProcessCpuTime();
                async(producer, topic, count);
                print(count, wall, cpu, "");
            }
            if (mode.equals("first") || mode.equals("idle")) producer.send(new Message(topic, body));
            if (mode.equals("first")) System.out.printf("{\"first_ms\":%.1f}%n", System.currentTimeMillis() - Long.parseLong(args[4]) / 1e6);
            if (mode.equals("idle")) {
                long cpu = system.getProcessCpuTime();
                Thread.sleep(count * 1000L);
                System.out.printf("{\"rss_kb\":%d,\"anon_kb\":%d,\"cpu_ms\":%.1f}%n", kilobytes("VmRSS"), kilobytes("RssAnon"),
                                  (system.getProcessCpuTime() - cpu) / 1e6);
            }
        }
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }
}
