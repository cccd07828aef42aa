/**
 * What operators install and load besides the jar: rules for Prometheus, the systemd unit, the
 * release archive, the Debian package and the recipe of a container. Imports the process tests. See
 * docs/operations.md.
 */
@NullMarked
package io.troupe.tests.packaging;

import org.jspecify.annotations.NullMarked;
