package io.troupe.tests.conformance;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** An HTTP/1.1 client of one server. */
final class Http1 {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final HttpClient CLIENT =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private final String target;

  /**
   * The side of a server.
   *
   * @param target host:port
   */
  Http1(String target) {
    this.target = target;
  }

  HttpResponse<String> get(String path, String... headers) {
    return send("GET", path, "", headers);
  }

  HttpResponse<String> post(String path, String body, String... headers) {
    return send("POST", path, body, headers);
  }

  /** Returns the response; fails after 20 s. */
  HttpResponse<String> send(String method, String path, String body, String... headers) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://" + target + path))
            .timeout(TIMEOUT)
            .method(
                method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
    if (headers.length > 0) {
      request.headers(headers);
    }
    try {
      return CLIENT.send(request.build(), BodyHandlers.ofString(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** A separate connection, for requests that no client library sends. */
  Raw connect() {
    return new Raw(target);
  }

  /** Bytes out, lines in. */
  static final class Raw implements AutoCloseable {
    private final Socket socket;
    private final InputStream in;
    private final OutputStream out;

    private Raw(String target) {
      URI uri = URI.create("http://" + target);
      try {
        socket = new Socket(uri.getHost(), uri.getPort());
        socket.setSoTimeout((int) TIMEOUT.toMillis());
        in = socket.getInputStream();
        out = socket.getOutputStream();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    Raw write(String text) {
      try {
        out.write(text.getBytes(StandardCharsets.UTF_8));
        out.flush();
        return this;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    /** A piece of a chunked body. */
    Raw chunk(String text) {
      int length = text.getBytes(StandardCharsets.UTF_8).length;
      return write(Integer.toHexString(length) + "\r\n" + text + "\r\n");
    }

    /** Closes the output of the connection and continues to read. */
    void endOutput() {
      try {
        socket.shutdownOutput();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    /** The next line without its end. */
    String line() {
      StringBuilder line = new StringBuilder();
      try {
        for (int b = in.read(); b >= 0 && b != '\n'; b = in.read()) {
          if (b != '\r') {
            line.append((char) b);
          }
        }
      } catch (IOException e) {
        throw new UncheckedIOException("after " + line, e);
      }
      return line.toString();
    }

    /** The next line with this prefix. */
    String lineOf(String beginning) {
      String line = line();
      for (int i = 0; i < 50 && !line.startsWith(beginning); i++) {
        line = line();
      }
      return line;
    }

    @Override
    public void close() {
      try {
        socket.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
