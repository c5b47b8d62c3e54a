// A WordPress of its own: MariaDB in a folder, PHP's own server, the plugin as a copy, and a gate between it and our system that can be shut.
import { spawn, spawnSync } from "node:child_process"
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { connect, createServer } from "node:net"
import { tmpdir, userInfo } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { state, until } from "../../browser/system.mjs"

const here = dirname(fileURLToPath(import.meta.url))
export const password = "correct horse battery staple"

/** A port that nothing else takes while the system runs: it lies in the system's own block (deploy/local/README.md). */
const port = (i) => Number(new URL(state().gateway).port) + 16 + i

/**
 * A network between WordPress and our gateway: "open" passes bytes on, "silent" takes calls and answers nothing, "refuses" ends them at once.
 */
export async function makeGate() {
  const target = new URL(state().gateway)
  let mode = "open"
  const all = new Set()
  const server = createServer((from) => {
    all.add(from)
    from.on("error", () => {}).on("close", () => all.delete(from))
    if (mode === "refuses") return from.destroy()
    if (mode === "silent") return
    const to = connect(Number(target.port), target.hostname)
    to.on("error", () => from.destroy())
    from.on("close", () => to.destroy())
    from.pipe(to).pipe(from)
  })
  await new Promise((resolve) => server.listen(port(1), "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${port(1)}`,
    set(to) {
      mode = to
      for (const c of all) c.destroy()
    },
    close: () => server.close(),
  }
}

// What a web server's rules do for the websites of a network: the first folder of an address is a website, and its files are those of all.
const router = `<?php
$path = preg_replace( '#^/second(?=/)#', '', parse_url( $_SERVER['REQUEST_URI'], PHP_URL_PATH ) );
$file = $_SERVER['DOCUMENT_ROOT'] . $path . ( str_ends_with( $path, '/' ) ? 'index.php' : '' );
if ( is_file( $file ) && ! str_ends_with( $file, '.php' ) ) {
	if ( str_starts_with( $_SERVER['REQUEST_URI'], '/second/' ) ) {
		header( "Location: $path" );
		exit;
	}
	return false;
}
$file = is_file( $file ) ? $file : $_SERVER['DOCUMENT_ROOT'] . '/index.php';
$_SERVER['SCRIPT_FILENAME'] = $file;
$_SERVER['SCRIPT_NAME'] = $_SERVER['PHP_SELF'] = substr( $file, strlen( $_SERVER['DOCUMENT_ROOT'] ) );
chdir( dirname( $file ) );
require $file;
`

/**
 * Starts WordPress with an administrator "boss". php(code) runs PHP inside it, and answers what it prints. With network it is the first of two
 * websites of a network; the other one is at /second/, which php takes as its third argument.
 */
export async function makeSite({ network = false } = {}) {
  const dir = mkdtempSync(join(tmpdir(), "frontdesk-wordpress-"))
  const data = join(dir, "data"), socket = join(dir, "sql.sock"), root = join(dir, "site"), log = join(dir, "debug.log")
  const run = (command, args, options) => {
    const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: "utf8", ...options })
    if (status !== 0) throw new Error(`${command}: ${error?.message ?? ""}${stdout}${stderr}`)
    return stdout
  }
  const user = "--user=" + userInfo().username
  run("mariadb-install-db", ["--no-defaults", "--datadir=" + data, "--auth-root-authentication-method=normal", "--skip-test-db", user])
  const daemon = existsSync("/usr/sbin/mariadbd") ? "/usr/sbin/mariadbd" : "mariadbd"
  // Its data ends with the test, so nothing has to reach the disk.
  const db = spawn(daemon, ["--no-defaults", "--datadir=" + data, "--socket=" + socket, "--skip-networking", "--innodb-flush-log-at-trx-commit=0", "--pid-file=" + join(dir, "pid"), user], { stdio: "ignore" })
  const sql = (statement) => run("mariadb", ["--no-defaults", "--socket=" + socket, "--user=root", "-N", "-e", statement])
  await until("MariaDB", () => spawnSync("mariadb", ["--no-defaults", "--socket=" + socket, "--user=root", "-e", "select 1"]).status === 0)
  sql("create database wordpress")

  cpSync(process.env.WORDPRESS, root, { recursive: true, dereference: true, filter: (from) => existsSync(from) })
  const plugin = join(root, "wp-content/plugins/frontdesk")
  mkdirSync(dirname(plugin), { recursive: true })
  cpSync(join(here, "../frontdesk"), plugin, { recursive: true })
  const url = `http://127.0.0.1:${port(0)}`
  const keys = ["AUTH_KEY", "SECURE_AUTH_KEY", "LOGGED_IN_KEY", "NONCE_KEY", "AUTH_SALT", "SECURE_AUTH_SALT", "LOGGED_IN_SALT", "NONCE_SALT"]
  const constants = { DB_NAME: "wordpress", DB_USER: "root", DB_PASSWORD: "", DB_HOST: "localhost:" + socket, DB_CHARSET: "utf8mb4", DB_COLLATE: "", WP_DEBUG: true, WP_DEBUG_LOG: log, WP_DEBUG_DISPLAY: false,
    DISABLE_WP_CRON: true, WP_HTTP_BLOCK_EXTERNAL: true, WP_ACCESSIBLE_HOSTS: "127.0.0.1", FS_METHOD: "direct", ...(!network && { WP_SITEURL: url, WP_HOME: url }), ...Object.fromEntries(keys.map((k) => [k, k + dir])) }
  const host = new URL(url).host
  const configure = (more) => writeFileSync(join(root, "wp-config.php"), `<?php\n${Object.entries({ ...constants, ...more }).map(([name, value]) => `define( '${name}', ${JSON.stringify(value)} );`).join("\n")}\n$table_prefix = 'wp_';\n` +
    `if ( ! defined( 'ABSPATH' ) ) { define( 'ABSPATH', __DIR__ . '/' ); }\nrequire_once ABSPATH . 'wp-settings.php';\n`)
  const php = (code, before = "", path = "/") => run("php", ["-r", `$_SERVER['HTTP_HOST'] = '${host}'; $_SERVER['REQUEST_METHOD'] = 'GET'; $_SERVER['REQUEST_URI'] = '${path}'; ${before} require '${root}/wp-load.php'; ${code}`], { cwd: root })
  configure({})
  php(`require ABSPATH . 'wp-admin/includes/upgrade.php'; wp_install( 'Praktijk Linde', 'boss', 'boss@example.com', true, '', '${password}' ); update_option( 'show_avatars', 0 );`,
    `define( 'WP_INSTALLING', true );${network ? ` define( 'WP_SITEURL', '${url}' );` : ""}`)
  if (network) {
    php(`require ABSPATH . 'wp-admin/includes/upgrade.php'; foreach ( $wpdb->tables( 'ms_global' ) as $name => $table ) { $wpdb->$name = $table; } install_network();
      $made = populate_network( 1, '${host}', 'boss@example.com', 'Linde', '/', false ); if ( is_wp_error( $made ) ) { echo $made->get_error_message(); exit( 1 ); }`, "define( 'WP_INSTALLING_NETWORK', true );")
    configure({ MULTISITE: true, SUBDOMAIN_INSTALL: false, DOMAIN_CURRENT_SITE: host, PATH_CURRENT_SITE: "/", SITE_ID_CURRENT_SITE: 1, BLOG_ID_CURRENT_SITE: 1 })
    php(`$made = wpmu_create_blog( '${host}', '/second/', 'Second', get_user_by( 'login', 'boss' )->ID, array( 'public' => 1, 'show_avatars' => 0 ), 1 ); if ( is_wp_error( $made ) ) { echo $made->get_error_message(); exit( 1 ); }`)
    writeFileSync(join(dir, "router.php"), router)
  }
  const server = spawn("php", ["-S", `127.0.0.1:${port(0)}`, "-t", root, ...(network ? [join(dir, "router.php")] : [])], { stdio: "ignore", env: { ...process.env, PHP_CLI_SERVER_WORKERS: "6" }, detached: true })
  await until("WordPress", () => fetch(url).then((a) => a.ok, () => false))
  return {
    url, plugin, php, sql,
    /** Complaints of PHP, apart from those about wordpress.org, which this WordPress may not ask, and about what WordPress itself has for networks. */
    complaints: () => (existsSync(log) ? readFileSync(log, "utf8") : "").split("\n").filter((line) => line && !/WordPress\.org|wp-includes\/ms-functions\.php/.test(line)).join("\n"),
    async stop() {
      process.kill(-server.pid)
      db.kill()
      await new Promise((resolve) => db.once("exit", resolve))
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
