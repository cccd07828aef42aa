/** Tests of the settings. Entry class: {@link io.troupe.node.config.NodeSettingsTest}. */
@NullMarked
package io.troupe.node.config;

import org.jspecify.annotations.NullMarked;
