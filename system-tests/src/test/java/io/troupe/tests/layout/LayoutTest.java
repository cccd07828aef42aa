package io.troupe.tests.layout;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.library.dependencies.SlicesRuleDefinition;
import java.time.Clock;
import java.time.Instant;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The dependency rules of docs/architecture.md. */
class LayoutTest {
  private static final JavaClasses TROUPE =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          // Shared test code of other modules is a jar here.
          .withImportOption(location -> !location.contains("-tests.jar"))
          .importPackages("io.troupe");

  /** Every package of the pure module. */
  private static final String[] CORE = {
    "io.troupe.model..",
    "io.troupe.raft..",
    "io.troupe.mvcc..",
    "io.troupe.txn..",
    "io.troupe.lease..",
    "io.troupe.auth..",
    "io.troupe.watch..",
    "io.troupe.snapshot..",
    "io.troupe.version..",
    "io.troupe.machine.."
  };

  private static final String PROTOCOL = "io.troupe.protocol..";
  private static final String PERSISTENCE = "io.troupe.persistence..";
  private static final String ACTORS = "io.troupe.actors..";
  private static final String GRPC = "io.troupe.grpc..";
  private static final String SERVER = "io.troupe.server..";
  private static final String EDGE = "io.troupe.edge..";
  private static final String METRICS = "io.troupe.metrics..";
  private static final String NODE = "io.troupe.node..";

  /** The packages of core that each package may import, besides model and itself. */
  private static final Map<String, Set<String>> INSIDE_CORE =
      new TreeMap<>(
          Map.of(
              "model", Set.of(),
              "raft", Set.of(),
              "mvcc", Set.of(),
              "lease", Set.of(),
              "auth", Set.of(),
              "watch", Set.of(),
              "snapshot", Set.of("raft"),
              "version", Set.of(),
              "txn", Set.of("mvcc"),
              "machine", Set.of("mvcc", "txn", "lease", "auth", "version", "raft.membership")));

  @Test
  void allModulesAreSeen() {
    Set<String> seen =
        TROUPE.stream()
            .map(type -> type.getPackageName().split("\\.", -1)[2])
            .collect(Collectors.toSet());
    assertThat(seen)
        .contains("model", "raft", "mvcc", "protocol", "persistence", "actors")
        .contains("grpc", "server", "edge", "node");
  }

  @Test
  void coreDependsOnlyOnJdk() {
    classes()
        .that()
        .resideInAnyPackage(CORE)
        .should()
        .onlyDependOnClassesThat(
            resideInAnyPackage(CORE)
                .or(
                    resideInAnyPackage(
                        "java.lang..", "java.util..", "java.nio.charset..", "java.time"))
                .or(resideInAnyPackage("java.nio", "java.math", "java.io"))
                .or(resideInAnyPackage("org.jspecify.annotations"))
                .or(primitive()))
        .check(TROUPE);
  }

  private static DescribedPredicate<JavaClass> primitive() {
    return DescribedPredicate.describe(
        "primitive", type -> type.getBaseComponentType().isPrimitive());
  }

  @Test
  void coreHasNoClockThreadOrRandomness() {
    ArchRule[] rules = {
      noClasses().that().resideInAnyPackage(CORE).should().callMethod(System.class, "nanoTime"),
      noClasses()
          .that()
          .resideInAnyPackage(CORE)
          .should()
          .callMethod(System.class, "currentTimeMillis"),
      noClasses().that().resideInAnyPackage(CORE).should().callMethod(Instant.class, "now"),
      noClasses().that().resideInAnyPackage(CORE).should().callConstructor(Random.class),
      noClasses().that().resideInAnyPackage(CORE).should().callMethod(Math.class, "random"),
      noClasses()
          .that()
          .resideInAnyPackage(CORE)
          .should()
          .dependOnClassesThat()
          .belongToAnyOf(Thread.class, Clock.class),
      noClasses()
          .that()
          .resideInAnyPackage(CORE)
          .should()
          .dependOnClassesThat()
          .haveFullyQualifiedName("java.util.concurrent.ThreadLocalRandom"),
      noClasses()
          .that()
          .resideInAnyPackage(CORE)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("java.nio.file..", "java.net..", "java.util.logging..")
    };
    for (ArchRule rule : rules) {
      rule.check(TROUPE);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"model", "raft", "mvcc", "lease", "auth", "watch", "txn", "version", "machine"})
  void corePackagesImportOnlyAllowedPackages(String name) {
    Set<String> allowed = INSIDE_CORE.getOrDefault(name, Set.of());
    String[] others =
        INSIDE_CORE.keySet().stream()
            .filter(other -> !other.equals(name) && !other.equals("model"))
            .map(other -> "io.troupe." + other + "..")
            .toArray(String[]::new);
    String[] open =
        allowed.stream().map(other -> "io.troupe." + other + "..").toArray(String[]::new);
    noClasses()
        .that()
        .resideInAPackage("io.troupe." + name + "..")
        .should()
        .dependOnClassesThat(resideInAnyPackage(others).and(not(resideInAnyPackage(open))))
        .allowEmptyShould(true)
        .check(TROUPE);
  }

  @Test
  void protocolDependsOnCoreAndPekkoActors() {
    classes()
        .that()
        .resideInAPackage(PROTOCOL)
        .should()
        .onlyDependOnClassesThat(
            resideInAnyPackage(CORE)
                .or(resideInAnyPackage(PROTOCOL, "java..", "org.jspecify.annotations"))
                .or(resideInAnyPackage("org.apache.pekko", "org.apache.pekko.actor.."))
                .or(resideInAnyPackage("com.google.protobuf.."))
                .or(primitive()))
        .check(TROUPE);
  }

  @Test
  void persistenceDoesNotDependOnActors() {
    noClasses()
        .that()
        .resideInAPackage(PERSISTENCE)
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            ACTORS,
            GRPC,
            SERVER,
            EDGE,
            NODE,
            "org.apache.pekko.http..",
            "org.apache.pekko.cluster..")
        .check(TROUPE);
  }

  /** The files of etcd are read and written by tools too. */
  @Test
  void etcdFormatDependsOnCoreAlone() {
    noClasses()
        .that()
        .resideInAPackage("io.troupe.etcd..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            PROTOCOL, PERSISTENCE, ACTORS, GRPC, SERVER, EDGE, METRICS, NODE, "org.apache.pekko..")
        .check(TROUPE);
    noClasses()
        .that()
        .resideInAPackage("io.troupe.etcd.bolt..")
        .should()
        .dependOnClassesThat(
            resideInAnyPackage("io.troupe..")
                .and(not(resideInAnyPackage("io.troupe.etcd.bolt..", "io.troupe.model.."))))
        .check(TROUPE);
  }

  @Test
  void actorsDoNotDependOnGateway() {
    noClasses()
        .that()
        .resideInAPackage(ACTORS)
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(GRPC, SERVER, EDGE, NODE, "org.apache.pekko.http..")
        .check(TROUPE);
  }

  /** Besides model and protocol the gateway uses checks that need no state (decision 0003). */
  @Test
  void gatewayDoesNotDependOnActorsOrDisks() {
    noClasses()
        .that()
        .resideInAnyPackage(GRPC, SERVER, EDGE)
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            ACTORS,
            PERSISTENCE,
            NODE,
            "io.troupe.mvcc..",
            "io.troupe.machine..",
            "net.openhft..",
            "org.rocksdb..")
        .check(TROUPE);
    noClasses()
        .that()
        .resideInAnyPackage(GRPC, SERVER, EDGE)
        .should()
        .dependOnClassesThat(
            resideInAnyPackage("io.troupe.raft", "io.troupe.raft.quorum..")
                .and(
                    not(
                        DescribedPredicate.describe(
                            "what messages to the raft actor carry",
                            type ->
                                type.getName()
                                    .matches(
                                        "io.troupe.raft.(ConfProposal|Proposal|ReplicationStatus(\\$.*)?)")))))
        .check(TROUPE);
    noClasses()
        .that()
        .resideInAnyPackage(GRPC, SERVER, EDGE)
        .should()
        .dependOnClassesThat(
            resideInAnyPackage("io.troupe.lease..", "io.troupe.watch..")
                .and(
                    not(
                        DescribedPredicate.describe(
                            "pure rules",
                            type ->
                                Set.of("LeaseRules", "EventFilter")
                                    .contains(type.getSimpleName())))))
        .check(TROUPE);
  }

  /** The messages and their conversion serve other programs too, such as bench. */
  @Test
  void messagesDoNotDependOnServices() {
    noClasses()
        .that()
        .resideInAPackage(GRPC)
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(SERVER, EDGE, NODE, "io.troupe.metrics..")
        .check(TROUPE);
  }

  /** Services and conversion do not depend on the transport, so that it can be exchanged. */
  @Test
  void servicesDoNotDependOnTransport() {
    noClasses()
        .that()
        .resideInAnyPackage(SERVER, "io.troupe.grpc.convert..", "io.troupe.grpc.error..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(EDGE, "org.apache.pekko.http..", "org.apache.pekko.stream..")
        .check(TROUPE);
  }

  /** Each release of Pekko HTTP may change its inner parts (docs/components/http-engine.md). */
  @Test
  void innerPartsOfPekkoHttpStayInEngine() {
    noClasses()
        .that()
        .resideOutsideOfPackage("io.troupe.edge.engine..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("org.apache.pekko.http.impl..")
        .check(TROUPE);
    noClasses()
        .that()
        .resideInAPackage("io.troupe.edge.engine..")
        .should()
        .dependOnClassesThat(
            resideInAnyPackage("io.troupe..").and(not(resideInAnyPackage("io.troupe.edge.engine"))))
        .check(TROUPE);
  }

  /** What the checks of frames decide depends on bytes alone. */
  @Test
  void framesDependOnBytesAlone() {
    noClasses()
        .that()
        .resideInAPackage("io.troupe.edge.frames..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            SERVER,
            "org.apache.pekko.stream..",
            "org.apache.pekko.http..",
            "org.apache.pekko.actor..")
        .check(TROUPE);
  }

  /** Except the testkit, which is not visible here and has a rule of its own. */
  @Test
  void noModuleDependsOnNode() {
    noClasses()
        .that()
        .resideOutsideOfPackage(NODE)
        .should()
        .dependOnClassesThat()
        .resideInAPackage(NODE)
        .check(TROUPE);
  }

  /** Tools depend on the product, never the reverse. */
  @Test
  void noModuleDependsOnToolsOrSimulation() {
    // The simulation is present because tests of this module use its checkers.
    noClasses()
        .that()
        .resideOutsideOfPackages("io.troupe.simulation..", "io.troupe.bench..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("io.troupe.simulation..", "io.troupe.bench..")
        .check(TROUPE);
  }

  @Test
  void generatedMessagesHaveTheirOwnPackages() {
    classes()
        .that()
        .areAssignableTo(com.google.protobuf.GeneratedMessageV3.class)
        .should()
        .resideInAnyPackage("io.troupe.grpc.api..", "io.troupe.protocol.wire..")
        .check(TROUPE);
  }

  @Test
  void storageLibrariesStayInPersistence() {
    noClasses()
        .that()
        .resideOutsideOfPackages(PERSISTENCE)
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("net.openhft..", "org.rocksdb..")
        .check(TROUPE);
  }

  @Test
  void metricsLibraryStaysInMetrics() {
    noClasses()
        .that()
        .resideInAPackage(METRICS)
        .should()
        .dependOnClassesThat(
            resideInAnyPackage("io.troupe..").and(not(resideInAnyPackage(METRICS))))
        .check(TROUPE);
    noClasses()
        .that()
        .resideOutsideOfPackages(METRICS)
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("io.prometheus..")
        .check(TROUPE);
  }

  @Test
  void openTelemetryStaysInItsPackage() {
    noClasses()
        .that()
        .resideOutsideOfPackage("io.troupe.node.tracing..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("io.opentelemetry..")
        .check(TROUPE);
  }

  @Test
  void jsonDoesNotDependOnTransport() {
    noClasses()
        .that()
        .resideInAPackage("io.troupe.edge.json..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("org.apache.pekko..")
        .check(TROUPE);
  }

  @Test
  void packagesHaveNoCycles() {
    SlicesRuleDefinition.slices()
        .matching("io.troupe.(*)..")
        .should()
        .beFreeOfCycles()
        .check(TROUPE);
    for (String module : new String[] {"edge", "server", "node"}) {
      SlicesRuleDefinition.slices()
          .matching("io.troupe." + module + ".(**)")
          .should()
          .beFreeOfCycles()
          .check(TROUPE);
    }
  }

  @Test
  void everyPackageHasDescription() {
    Set<String> withInfo =
        TROUPE.stream()
            .filter(type -> type.getSimpleName().equals("package-info"))
            .map(JavaClass::getPackageName)
            .collect(Collectors.toSet());
    Set<String> all =
        TROUPE.stream()
            .map(JavaClass::getPackageName)
            .filter(name -> !name.startsWith("io.troupe.grpc.api"))
            .filter(name -> !name.startsWith("io.troupe.protocol.wire"))
            .collect(Collectors.toSet());
    assertThat(withInfo).containsAll(all);
  }
}
