package io.troupe.ctl.client;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Deadline;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.NameResolverRegistry;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCalls;
import io.troupe.grpc.api.AuthenticateRequest;
import io.troupe.grpc.api.AuthenticateResponse;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Calls of one cluster over one connection for each endpoint, used in turn. The first call opens
 * them and logs in. Calls wait for a connection until their time limit, as etcd's client does.
 * Thread-safe.
 */
public final class EtcdClient implements AutoCloseable {
  private static final Metadata.Key<String> TOKEN =
      Metadata.Key.of("token", Metadata.ASCII_STRING_MARSHALLER);
  private static final Metadata.Key<String> HAS_LEADER =
      Metadata.Key.of("hasleader", Metadata.ASCII_STRING_MARSHALLER);
  private static final int READ_ATTEMPTS = 8;
  private static final long RETRY_MS = 50;

  /** Schemes differ, because the registry of resolvers is one for the process. */
  private static final AtomicLong NUMBER = new AtomicLong();

  private final ClientSettings settings;
  private final List<Endpoint> endpoints;
  private final ManagedChannel channel;
  private final @Nullable Endpoints resolver;
  private volatile String token;
  private boolean loggedIn;

  /**
   * @throws IllegalArgumentException if an endpoint or a TLS file is invalid
   */
  public EtcdClient(ClientSettings settings) {
    this.settings = settings;
    this.endpoints = settings.endpoints().stream().map(Endpoint::parse).toList();
    this.token = settings.login().token();
    this.loggedIn = settings.login().user().isEmpty();
    Endpoint first = endpoints.get(0);
    NettyChannelBuilder builder;
    if (endpoints.size() == 1) {
      resolver = null;
      builder = NettyChannelBuilder.forAddress(first.host(), first.port());
    } else {
      resolver = new Endpoints(endpoints, "etcd-endpoints-" + NUMBER.incrementAndGet());
      NameResolverRegistry.getDefaultRegistry().register(resolver);
      builder =
          NettyChannelBuilder.forTarget(resolver.getDefaultScheme() + ":///cluster")
              .defaultLoadBalancingPolicy("round_robin");
    }
    boolean tls = isTls(first, settings.tls());
    if (tls || settings.tls().isWanted()) {
      // Also for a plaintext endpoint: a file that cannot be used is an error.
      builder.sslContext(TlsContext.http2(settings.tls()));
    }
    if (!tls) {
      builder.usePlaintext();
    }
    this.channel =
        builder
            .disableRetry()
            .maxInboundMessageSize(settings.maxResponseBytes())
            .keepAliveTime(settings.keepAliveTime().toNanos(), TimeUnit.NANOSECONDS)
            .keepAliveTimeout(settings.keepAliveTimeout().toNanos(), TimeUnit.NANOSECONDS)
            .build();
  }

  /** Whether connections to this endpoint use TLS. */
  public static boolean isTls(Endpoint endpoint, TlsSettings tls) {
    return switch (endpoint.scheme()) {
      case TLS -> true;
      case PLAIN -> false;
      case ANY -> tls.isWanted();
    };
  }

  public ClientSettings settings() {
    return settings;
  }

  /**
   * Makes a call with one response, within the command's time limit.
   *
   * @throws RpcException if it fails
   */
  public <Q, R> R call(MethodDescriptor<Q, R> method, Q request) {
    return call(method, request, settings.commandTimeout());
  }

  /**
   * Makes a call with one response.
   *
   * @throws RpcException if it fails, or takes longer than {@code timeout}
   */
  public <Q, R> R call(MethodDescriptor<Q, R> method, Q request, Duration timeout) {
    login();
    return unary(method, request, Deadline.after(timeout.toNanos(), TimeUnit.NANOSECONDS));
  }

  /**
   * Repeats a read while no leader is known or the connection breaks, within the command's time
   * limit.
   */
  public <Q, R> R read(MethodDescriptor<Q, R> method, Q request) {
    login();
    Deadline deadline = Deadline.after(settings.commandTimeout().toNanos(), TimeUnit.NANOSECONDS);
    for (int attempt = 1; ; attempt++) {
      try {
        return unary(method, request, deadline);
      } catch (RpcException e) {
        long left = deadline.timeRemaining(TimeUnit.MILLISECONDS);
        if (e.code() != Status.Code.UNAVAILABLE || attempt == READ_ATTEMPTS || left < RETRY_MS) {
          throw e;
        }
        pause(Math.min(left, RETRY_MS << attempt));
      }
    }
  }

  private static void pause(long millis) {
    try {
      TimeUnit.MILLISECONDS.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new RpcException(Status.CANCELLED.withCause(e));
    }
  }

  private <Q, R> R unary(MethodDescriptor<Q, R> method, Q request, Deadline deadline) {
    requireSize(request);
    try {
      return ClientCalls.blockingUnaryCall(
          Headers.add(channel, headers(false)),
          method,
          CallOptions.DEFAULT.withDeadline(deadline).withWaitForReady(),
          request);
    } catch (StatusRuntimeException e) {
      throw new RpcException(e.getStatus());
    }
  }

  private <Q> void requireSize(Q request) {
    int size =
        request instanceof com.google.protobuf.MessageLite message
            ? message.getSerializedSize()
            : 0;
    if (size > settings.maxRequestBytes()) {
      throw new RpcException(
          Status.RESOURCE_EXHAUSTED.withDescription(
              "trying to send message larger than max ("
                  + size
                  + " vs. "
                  + settings.maxRequestBytes()
                  + ")"));
    }
  }

  /**
   * Makes a call with several responses, without a time limit unless {@code timeout} is positive.
   * {@code hasNext} waits for each response and throws {@link RpcException}.
   */
  public <Q, R> Iterator<R> stream(MethodDescriptor<Q, R> method, Q request, Duration timeout) {
    login();
    CallOptions options = CallOptions.DEFAULT.withWaitForReady();
    if (!timeout.isZero()) {
      options = options.withDeadlineAfter(timeout.toNanos(), TimeUnit.NANOSECONDS);
    }
    Iterator<R> responses =
        ClientCalls.blockingServerStreamingCall(
            Headers.add(channel, headers(false)), method, options, request);
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        try {
          return responses.hasNext();
        } catch (StatusRuntimeException e) {
          throw new RpcException(e.getStatus());
        }
      }

      @Override
      public R next() {
        return responses.next();
      }
    };
  }

  /**
   * Opens a call with requests and responses in both directions.
   *
   * @param requireLeader whether the server ends it when the member has no leader
   */
  public <Q, R> BidiCall<Q, R> open(MethodDescriptor<Q, R> method, boolean requireLeader) {
    login();
    ClientCall<Q, R> call =
        Headers.add(channel, headers(requireLeader))
            .newCall(method, CallOptions.DEFAULT.withWaitForReady());
    return new BidiCall<>(call);
  }

  private Metadata headers(boolean requireLeader) {
    Metadata headers = new Metadata();
    if (!token.isEmpty()) {
      headers.put(TOKEN, token);
    }
    if (requireLeader) {
      headers.put(HAS_LEADER, "true");
    }
    return headers;
  }

  /** Fetches a token, once. Does nothing without a user, or if the cluster has no users. */
  private synchronized void login() {
    if (loggedIn) {
      return;
    }
    AuthenticateRequest request =
        AuthenticateRequest.newBuilder()
            .setName(settings.login().user())
            .setPassword(settings.login().password())
            .build();
    Deadline deadline = Deadline.after(settings.dialTimeout().toNanos(), TimeUnit.NANOSECONDS);
    try {
      AuthenticateResponse response = unary(EtcdMethods.AUTHENTICATE, request, deadline);
      token = response.getToken();
    } catch (RpcException e) {
      if (!e.isText("etcdserver: authentication is not enabled")) {
        throw new LoginException(e);
      }
    }
    loggedIn = true;
  }

  /** Closes the connections; calls in flight end. */
  @Override
  public void close() {
    channel.shutdownNow();
    if (resolver != null) {
      NameResolverRegistry.getDefaultRegistry().deregister(resolver);
    }
  }
}
