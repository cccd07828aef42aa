package io.troupe.bench.client;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.netty.NegotiationType;
import io.grpc.netty.NettyChannelBuilder;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A fixed number of HTTP/2 connections to a server, distributed over its members. Callbacks run on
 * the connection's thread: all calls of one connection report on the same thread, so the state of a
 * connection needs no lock.
 */
public final class Connections implements AutoCloseable {
  private static final int WINDOW_BYTES = 8 << 20;
  private static final int MAX_MESSAGE_BYTES = 512 << 20;

  private static final Metadata.Key<String> TOKEN =
      Metadata.Key.of("token", Metadata.ASCII_STRING_MARSHALLER);

  private final EventLoops loops;
  private final List<ManagedChannel> channels = new ArrayList<>();

  /**
   * @param endpoints of the members, at least one
   * @param count connections, 1 or more; each is opened by its first call
   */
  public Connections(EventLoops loops, List<Endpoint> endpoints, int count) {
    this.loops = loops;
    for (int i = 0; i < count; i++) {
      Endpoint endpoint = endpoints.get(i % endpoints.size());
      channels.add(
          builder(endpoint)
              .eventLoopGroup(loops.group())
              .channelType(loops.channelType())
              .directExecutor()
              .disableRetry()
              .flowControlWindow(WINDOW_BYTES)
              .maxInboundMessageSize(MAX_MESSAGE_BYTES)
              .build());
    }
  }

  private static NettyChannelBuilder builder(Endpoint endpoint) {
    NettyChannelBuilder builder =
        NettyChannelBuilder.forAddress(new InetSocketAddress(endpoint.host(), endpoint.port()));
    if (!endpoint.token().isEmpty()) {
      builder.intercept(new TokenInterceptor(endpoint.token()));
    }
    return endpoint.tls()
        ? builder.sslContext(TrustingTls.context())
        : builder.negotiationType(NegotiationType.PLAINTEXT);
  }

  /** Connections, 1 or more. */
  public int count() {
    return channels.size();
  }

  /** The threads that run the callbacks. */
  public EventLoops loops() {
    return loops;
  }

  /** Connection {@code index}, 0 to {@link #count()} - 1. */
  public Channel channel(int index) {
    return channels.get(index);
  }

  /** Starts a call on connection {@code index}; its listener runs on the connection's thread. */
  public ClientCall<byte[], Reply> start(
      int index, EtcdMethod method, ClientCall.Listener<Reply> listener) {
    return start(index, method, new Metadata(), listener);
  }

  /** The same with metadata. */
  public ClientCall<byte[], Reply> start(
      int index, EtcdMethod method, Metadata metadata, ClientCall.Listener<Reply> listener) {
    ClientCall<byte[], Reply> call =
        channels.get(index).newCall(method.descriptor(), CallOptions.DEFAULT);
    call.start(listener, metadata);
    return call;
  }

  /**
   * Makes one unary call on the first connection and waits for its response.
   *
   * @throws IllegalStateException if the server responds with an error or not within {@code
   *     timeoutMs}
   */
  public Reply call(EtcdMethod method, byte[] request, long timeoutMs) {
    CompletableFuture<Reply> future = new CompletableFuture<>();
    ClientCall<byte[], Reply> call =
        start(
            0,
            method,
            new ClientCall.Listener<>() {
              private Reply reply = Reply.NONE;

              @Override
              public void onMessage(Reply message) {
                reply = message;
              }

              @Override
              public void onClose(Status status, Metadata trailers) {
                if (status.isOk()) {
                  future.complete(reply);
                } else {
                  future.completeExceptionally(status.asRuntimeException());
                }
              }
            });
    call.request(2);
    call.sendMessage(request);
    call.halfClose();
    try {
      return future.get(timeoutMs, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted during " + method, e);
    } catch (ExecutionException e) {
      throw new IllegalStateException(method + ": " + e.getCause(), e);
    } catch (TimeoutException e) {
      call.cancel("timeout", e);
      throw new IllegalStateException(method + ": no reply within " + timeoutMs + " ms", e);
    }
  }

  @Override
  public void close() {
    channels.forEach(ManagedChannel::shutdownNow);
    for (ManagedChannel channel : channels) {
      try {
        channel.awaitTermination(5, TimeUnit.SECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }

  /** Adds a token to each call. */
  private record TokenInterceptor(String token) implements ClientInterceptor {
    @Override
    public <Q, R> ClientCall<Q, R> interceptCall(
        MethodDescriptor<Q, R> method, CallOptions options, Channel next) {
      return new ForwardingClientCall.SimpleForwardingClientCall<>(next.newCall(method, options)) {
        @Override
        public void start(Listener<R> listener, Metadata metadata) {
          metadata.put(TOKEN, token);
          super.start(listener, metadata);
        }
      };
    }
  }
}
