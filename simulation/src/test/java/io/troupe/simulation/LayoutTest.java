package io.troupe.simulation;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/** Checks the imports of the simulation and of its packages. */
class LayoutTest {
  private static final JavaClasses SIMULATION =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages("io.troupe.simulation");

  @Test
  void usesOnlyCoreAndTheJdk() {
    classes()
        .should()
        .onlyDependOnClassesThat(
            resideInAnyPackage(
                    "java..",
                    "org.jspecify.annotations",
                    "io.troupe.simulation..",
                    "io.troupe.model..",
                    "io.troupe.raft..",
                    "io.troupe.mvcc..",
                    "io.troupe.lease..",
                    "io.troupe.watch..",
                    "io.troupe.snapshot..",
                    "io.troupe.version..",
                    "io.troupe.machine..")
                .or(
                    DescribedPredicate.describe(
                        "primitive", (JavaClass t) -> t.getBaseComponentType().isPrimitive())))
        .check(SIMULATION);
  }

  /** The checks are oracles: they share no rule with the code that they check. */
  @Test
  void checksImportOnlyTheModel() {
    noClasses()
        .that()
        .resideInAnyPackage("io.troupe.simulation.check..", "io.troupe.simulation.history..")
        .should()
        .dependOnClassesThat(
            resideInAnyPackage(
                    "io.troupe.raft..",
                    "io.troupe.mvcc..",
                    "io.troupe.machine..",
                    "io.troupe.lease..",
                    "io.troupe.txn..",
                    "io.troupe.version..",
                    "io.troupe.simulation.world..",
                    "io.troupe.simulation.client..")
                .as("members"))
        .check(SIMULATION);
    noClasses()
        .that()
        .haveSimpleNameStartingWith("VersionChecks")
        .should()
        .dependOnClassesThat(resideInAnyPackage("io.troupe.version.."))
        .check(SIMULATION);
  }

  @Test
  void worldsUseNoClocksThreadsOrUnseededRandomness() {
    for (Class<?> forbidden :
        new Class<?>[] {Thread.class, java.time.Clock.class, java.util.Random.class}) {
      noClasses()
          .that()
          .resideOutsideOfPackage("io.troupe.simulation")
          .should()
          .dependOnClassesThat()
          .belongToAnyOf(forbidden)
          .check(SIMULATION);
    }
    noClasses()
        .that()
        .resideOutsideOfPackage("io.troupe.simulation")
        .should()
        .callMethod(System.class, "nanoTime")
        .orShould()
        .callMethod(System.class, "currentTimeMillis")
        .check(SIMULATION);
  }
}
