package io.troupe.ctl.command;

import io.troupe.ctl.cli.Console;
import io.troupe.ctl.cli.CtlException;
import io.troupe.ctl.cli.ExitCode;
import io.troupe.ctl.cli.FlagParser;
import io.troupe.ctl.cli.GlobalOptions;
import io.troupe.ctl.client.ClientSettings;
import io.troupe.ctl.client.EtcdClient;
import io.troupe.ctl.client.Login;
import io.troupe.ctl.client.SrvDiscovery;
import io.troupe.ctl.client.TlsSettings;
import io.troupe.ctl.print.Printer;
import io.troupe.ctl.print.Printers;
import io.troupe.ctl.text.Quoted;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/** One run of the program: its arguments, its output and its connections. */
public final class Session implements AutoCloseable {
  private static final int DEFAULT_REQUEST_BYTES = 2 * 1024 * 1024;

  /** Threads of checks, readers and progress lines; they do not keep the program running. */
  static final Executor THREADS =
      Executors.newCachedThreadPool(
          task -> {
            Thread thread = new Thread(task, "ctl");
            thread.setDaemon(true);
            return thread;
          });

  private final Console console;
  private final GlobalOptions options;
  private final List<EtcdClient> clients = new ArrayList<>();
  private FlagParser.@Nullable Parsed parsed;
  private @Nullable ClientSettings settings;
  private @Nullable EtcdClient client;
  private @Nullable Printer printer;

  public Session(Console console, GlobalOptions options) {
    this.console = console;
    this.options = options;
  }

  /** Sets what the arguments select; called once, before the command runs. */
  public void accept(FlagParser.Parsed selected) {
    parsed = selected;
  }

  private FlagParser.Parsed parsed() {
    if (parsed == null) {
      throw new IllegalStateException("no command was selected");
    }
    return parsed;
  }

  /** Whether the flags are printed. */
  public boolean isDebug() {
    return options.debug;
  }

  /** The arguments of the command without flags. */
  List<String> args() {
    return parsed().arguments();
  }

  /** Number of arguments before {@code --}; -1 without it. */
  int dash() {
    return parsed().dash();
  }

  /** Whether the command line has this flag. */
  boolean isGiven(String flag) {
    return parsed().given().contains(flag);
  }

  /**
   * The only argument.
   *
   * @throws CtlException with {@code error} if there is another number of arguments
   */
  String onlyArg(String error) {
    if (args().size() != 1) {
      throw CtlException.arguments(error);
    }
    return args().get(0);
  }

  Console console() {
    return console;
  }

  GlobalOptions options() {
    return options;
  }

  /**
   * The output mode.
   *
   * @throws CtlException if it is unknown
   */
  Printer printer() {
    if (printer == null) {
      printer = Printers.of(options.writeOut, options.hex, console);
    }
    return printer;
  }

  /** The settings of the flags. Asks for a missing password, once. */
  public ClientSettings settings() {
    if (settings == null) {
      for (Map.Entry<String, String> file :
          Map.of("--cert", options.cert, "--key", options.key, "--cacert", options.cacert)
              .entrySet()) {
        if (file.getValue().isEmpty() && isGiven(file.getKey())) {
          throw CtlException.arguments("empty string is passed to " + file.getKey() + " option");
        }
      }
      List<String> endpoints = endpoints();
      TlsSettings tls =
          new TlsSettings(
              options.cert,
              options.key,
              options.cacert,
              options.insecureTransport,
              options.insecureSkipTlsVerify);
      settings = settings(endpoints, tls, login());
    }
    return settings;
  }

  /** Settings of another cluster, with the time limits and sizes of the flags. */
  ClientSettings settings(List<String> endpoints, TlsSettings tls, Login login) {
    return new ClientSettings(
        endpoints,
        tls,
        login,
        options.commandTimeout,
        options.dialTimeout,
        options.keepAliveTime,
        options.keepAliveTimeout,
        options.maxRequestBytes == 0 ? DEFAULT_REQUEST_BYTES : options.maxRequestBytes,
        options.maxReceiveBytes == 0 ? Integer.MAX_VALUE : options.maxReceiveBytes);
  }

  private List<String> endpoints() {
    if (options.discoverySrv.isEmpty()) {
      return options.endpointList();
    }
    List<String> found;
    try {
      found = SrvDiscovery.endpoints(options.discoverySrv, options.discoverySrvName);
    } catch (IllegalArgumentException e) {
      throw new CtlException(ExitCode.ERROR, String.valueOf(e.getMessage()));
    }
    if (options.insecureDiscovery) {
      return found;
    }
    List<String> secure = new ArrayList<>();
    for (String endpoint : found) {
      if (endpoint.startsWith("http://")) {
        console.error("ignoring discovered insecure endpoint " + Quoted.quote(endpoint));
      } else {
        secure.add(endpoint);
      }
    }
    return secure.isEmpty() ? options.endpointList() : secure;
  }

  private Login login() {
    if (!options.token.isEmpty()) {
      return new Login("", "", options.token);
    }
    if (options.user.isEmpty()) {
      return Login.NONE;
    }
    return login(options.user, options.password, "Password: ");
  }

  /** A user with the password of its own flag, of the text after the colon, or of the terminal. */
  Login login(String user, String password, String prompt) {
    int colon = user.indexOf(':');
    if (!password.isEmpty()) {
      return new Login(user, password, "");
    }
    return colon < 0
        ? new Login(user, console.askPassword(prompt), "")
        : new Login(user.substring(0, colon), user.substring(colon + 1), "");
  }

  /** A client of all endpoints. Checks the output mode first. */
  EtcdClient client() {
    printer();
    if (client == null) {
      client = open(settings());
    }
    return client;
  }

  /** A client of one endpoint; the caller closes it. */
  EtcdClient clientOf(String endpoint) {
    return open(settings().withEndpoints(List.of(endpoint)));
  }

  /** A client with these settings; closed at the end of the session at the latest. */
  EtcdClient open(ClientSettings of) {
    try {
      EtcdClient opened = new EtcdClient(of);
      clients.add(opened);
      return opened;
    } catch (IllegalArgumentException e) {
      throw CtlException.arguments(String.valueOf(e.getMessage()));
    }
  }

  @Override
  public void close() {
    clients.forEach(EtcdClient::close);
  }
}
