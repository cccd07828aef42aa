package io.troupe.bench.client;

import io.netty.channel.Channel;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.TimeUnit;

/**
 * The threads of the generator. All work of its clients runs on them: sending, receiving,
 * recording.
 */
public final class EventLoops implements AutoCloseable {
  private final EventLoopGroup group;
  private final Class<? extends Channel> channelType;

  /**
   * @param threads 1 or more; more than the machine can spare only takes CPU from the server
   */
  public EventLoops(int threads) {
    DefaultThreadFactory factory = new DefaultThreadFactory("bench-client", true);
    if (Epoll.isAvailable()) {
      group = new EpollEventLoopGroup(threads, factory);
      channelType = EpollSocketChannel.class;
    } else {
      group = new NioEventLoopGroup(threads, factory);
      channelType = NioSocketChannel.class;
    }
  }

  /** Runs {@code task} on one of the threads after a delay. */
  public void later(Runnable task, long delayMs) {
    var unused = group.schedule(task, delayMs, TimeUnit.MILLISECONDS);
  }

  EventLoopGroup group() {
    return group;
  }

  Class<? extends Channel> channelType() {
    return channelType;
  }

  @Override
  public void close() {
    var unused = group.shutdownGracefully(0, 1, TimeUnit.SECONDS);
  }
}
