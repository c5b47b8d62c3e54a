-- What all migrations make, without the tables of libs/db/schema.sql that every service has.
-- UPDATE_SCHEMA=1 make units PACKAGES=./libs/db RUN=TestTheWrittenSchemas writes this file; nothing runs it.

CREATE TABLE access_token (
	id uuid NOT NULL,
	connection_id uuid NOT NULL,
	hash bytea NOT NULL,
	expires_at timestamp with time zone NOT NULL,
	permissions text[],
	CONSTRAINT access_token_pkey PRIMARY KEY (id),
	CONSTRAINT access_token_hash_key UNIQUE (hash),
	CONSTRAINT access_token_connection_id_fkey FOREIGN KEY (connection_id) REFERENCES connection(id) ON DELETE CASCADE
);
CREATE INDEX access_token_connection ON access_token (connection_id);
CREATE INDEX access_token_expires ON access_token (expires_at);

CREATE TABLE application_password (
	id uuid NOT NULL,
	person_id bigint NOT NULL,
	name text NOT NULL,
	assistant boolean NOT NULL,
	hash bytea NOT NULL,
	created_at timestamp with time zone NOT NULL,
	expires_at timestamp with time zone,
	permissions text[],
	last_used_at timestamp with time zone,
	last_address text DEFAULT '' NOT NULL,
	approval text DEFAULT 'never' NOT NULL,
	CONSTRAINT application_password_pkey PRIMARY KEY (id),
	CONSTRAINT application_password_hash_key UNIQUE (hash),
	CONSTRAINT application_password_person_id_fkey FOREIGN KEY (person_id) REFERENCES person(id) ON DELETE CASCADE
);
CREATE INDEX application_password_person ON application_password (person_id);

CREATE TABLE approval (
	id uuid NOT NULL,
	service text NOT NULL,
	operation text NOT NULL,
	permission text NOT NULL,
	credential uuid NOT NULL,
	kind text NOT NULL,
	person_id bigint NOT NULL,
	name text NOT NULL,
	input jsonb NOT NULL,
	effects jsonb,
	hash text NOT NULL,
	call bytea,
	state text NOT NULL,
	status integer,
	answer jsonb,
	secret bytea,
	reason text DEFAULT '' NOT NULL,
	decided_by bigint,
	decided_at timestamp with time zone,
	called_at timestamp with time zone,
	created_at timestamp with time zone NOT NULL,
	ends_at timestamp with time zone NOT NULL,
	sessions text[] DEFAULT '{}'[] NOT NULL,
	CONSTRAINT approval_pkey PRIMARY KEY (id),
	CONSTRAINT approval_person_id_fkey FOREIGN KEY (person_id) REFERENCES person(id) ON DELETE CASCADE
);
CREATE INDEX approval_newest ON approval (created_at, id);
CREATE INDEX approval_open ON approval (ends_at) WHERE (state = 'waiting');
CREATE INDEX approval_person ON approval (person_id);

CREATE TABLE assistant (
	id uuid NOT NULL,
	name text NOT NULL,
	redirect_uris text[] NOT NULL,
	created_at timestamp with time zone NOT NULL,
	used_at timestamp with time zone,
	url text,
	read_at timestamp with time zone,
	CONSTRAINT assistant_pkey PRIMARY KEY (id)
);
CREATE INDEX assistant_age ON assistant (created_at);
CREATE UNIQUE INDEX assistant_url ON assistant (url);

CREATE TABLE audit (
	id uuid NOT NULL,
	action text NOT NULL,
	channel text NOT NULL,
	actor_label text NOT NULL,
	user_id bigint,
	record_type text NOT NULL,
	record_id text NOT NULL,
	outcome text NOT NULL,
	created_at timestamp with time zone NOT NULL,
	person bytea,
	address text DEFAULT '' NOT NULL,
	changes jsonb,
	people bytea[],
	read_as smallint DEFAULT 0 NOT NULL,
	record_ids text[] DEFAULT '{}'[] NOT NULL,
	credential text,
	undoes uuid,
	approval_id uuid,
	approved_by bigint,
	CONSTRAINT audit_pkey PRIMARY KEY (id)
);
CREATE INDEX audit_action ON audit (action, created_at DESC, id DESC);
CREATE INDEX audit_changed_record ON audit (record_id) WHERE (changes IS NOT NULL);
CREATE INDEX audit_channel ON audit (channel, created_at DESC, id DESC);
CREATE INDEX audit_newest ON audit (created_at DESC, id DESC);
CREATE INDEX audit_people ON audit USING gin (people) WHERE (changes IS NOT NULL);
CREATE INDEX audit_person ON audit (person) WHERE (person IS NOT NULL);
CREATE INDEX audit_read_as ON audit (read_as, id) WHERE (changes IS NOT NULL);
CREATE INDEX audit_record ON audit (record_id, created_at DESC, id DESC);
CREATE INDEX audit_records ON audit USING gin (record_ids) WHERE (record_ids <> '{}'[]);
CREATE INDEX audit_refused ON audit (created_at DESC, id DESC) WHERE (outcome = 'refused');
CREATE INDEX audit_user ON audit (user_id, created_at DESC, id DESC);
CREATE TRIGGER audit_counted_delete AFTER DELETE ON audit REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION audit_counted();
CREATE TRIGGER audit_counted_insert AFTER INSERT ON audit REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION audit_counted();
CREATE TRIGGER audit_counted_update AFTER UPDATE ON audit REFERENCING OLD TABLE AS gone NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION audit_counted();

CREATE TABLE audit_stream (
	one boolean DEFAULT true NOT NULL,
	wanted_until timestamp with time zone NOT NULL,
	CONSTRAINT audit_stream_pkey PRIMARY KEY (one),
	CONSTRAINT audit_stream_one_check CHECK (one)
);

CREATE TABLE audit_unsent (
	seq bigint GENERATED ALWAYS AS IDENTITY,
	id uuid NOT NULL,
	queued_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT audit_unsent_pkey PRIMARY KEY (seq),
	CONSTRAINT audit_unsent_id_key UNIQUE (id),
	CONSTRAINT audit_unsent_id_fkey FOREIGN KEY (id) REFERENCES audit(id) ON DELETE CASCADE
);

CREATE TABLE browser (
	person_id bigint NOT NULL,
	hash bytea NOT NULL,
	used_at timestamp with time zone NOT NULL,
	CONSTRAINT browser_pkey PRIMARY KEY (person_id, hash),
	CONSTRAINT browser_person_id_fkey FOREIGN KEY (person_id) REFERENCES person(id) ON DELETE CASCADE
);
CREATE INDEX browser_used ON browser (used_at);

CREATE TABLE connection (
	id uuid NOT NULL,
	person_id bigint NOT NULL,
	assistant_id uuid NOT NULL,
	name text NOT NULL,
	permissions text[] NOT NULL,
	redirect_uri text NOT NULL,
	code_hash bytea NOT NULL,
	code_challenge text NOT NULL,
	code_expires_at timestamp with time zone NOT NULL,
	family_hash bytea,
	refresh_hash bytea,
	created_at timestamp with time zone NOT NULL,
	expires_at timestamp with time zone NOT NULL,
	last_used_at timestamp with time zone,
	last_address text DEFAULT '' NOT NULL,
	denied text[] DEFAULT '{}'[] NOT NULL,
	read_only boolean DEFAULT false NOT NULL,
	approval text DEFAULT 'never' NOT NULL,
	CONSTRAINT connection_pkey PRIMARY KEY (id),
	CONSTRAINT connection_code_hash_key UNIQUE (code_hash),
	CONSTRAINT connection_family_hash_key UNIQUE (family_hash),
	CONSTRAINT connection_check CHECK (((family_hash IS NULL) = (refresh_hash IS NULL))),
	CONSTRAINT connection_assistant_id_fkey FOREIGN KEY (assistant_id) REFERENCES assistant(id),
	CONSTRAINT connection_person_id_fkey FOREIGN KEY (person_id) REFERENCES person(id) ON DELETE CASCADE
);
CREATE INDEX connection_assistant ON connection (assistant_id);
CREATE INDEX connection_expires ON connection (expires_at);
CREATE INDEX connection_person ON connection (person_id);

CREATE TABLE document (
	key text NOT NULL,
	doc jsonb NOT NULL,
	version bigint DEFAULT 1 NOT NULL,
	updated_at timestamp with time zone NOT NULL,
	CONSTRAINT document_pkey PRIMARY KEY (key)
);

CREATE TABLE link (
	id uuid NOT NULL,
	hash bytea NOT NULL,
	kind text NOT NULL,
	person_id bigint,
	role text DEFAULT '' NOT NULL,
	created_at timestamp with time zone NOT NULL,
	expires_at timestamp with time zone NOT NULL,
	ended_at timestamp with time zone,
	CONSTRAINT link_pkey PRIMARY KEY (id),
	CONSTRAINT link_hash_key UNIQUE (hash),
	CONSTRAINT link_kind_check CHECK ((kind = ANY (ARRAY['invitation', 'password', 'telemetry']))),
	CONSTRAINT link_person_id_fkey FOREIGN KEY (person_id) REFERENCES person(id) ON DELETE SET NULL
);
CREATE INDEX link_expires ON link (expires_at);
CREATE INDEX link_person ON link (person_id, kind) WHERE (ended_at IS NULL);

CREATE TABLE mail (
	id uuid NOT NULL,
	message bytea,
	recipient text NOT NULL,
	subject text NOT NULL,
	kind text NOT NULL,
	status text NOT NULL,
	attempts integer DEFAULT 0 NOT NULL,
	next_at timestamp with time zone NOT NULL,
	leased_by uuid,
	error text DEFAULT '' NOT NULL,
	created_at timestamp with time zone NOT NULL,
	sent_at timestamp with time zone,
	person bytea,
	user_id bigint,
	leased_until timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
	app text DEFAULT '' NOT NULL,
	not_after timestamp with time zone,
	about text,
	turn bigint,
	kept bytea,
	tokens bytea[] DEFAULT '{}'::bytea[] NOT NULL,
	replaces boolean DEFAULT false NOT NULL,
	named_ids uuid[],
	named bytea[],
	CONSTRAINT mail_pkey PRIMARY KEY (id),
	CONSTRAINT mail_status_check CHECK ((status = ANY (ARRAY['queued', 'retrying', 'sending', 'sent', 'failed', 'unknown'])))
);
CREATE INDEX mail_about ON mail (about, turn) WHERE (turn IS NOT NULL);
CREATE INDEX mail_due ON mail (next_at) WHERE (status = ANY (ARRAY['queued', 'retrying']));
CREATE INDEX mail_named ON mail USING gin (named, named_ids);
CREATE INDEX mail_newest ON mail (created_at DESC, id DESC);
CREATE INDEX mail_person ON mail (person);
CREATE INDEX mail_sending ON mail (leased_until) WHERE (status = 'sending');
CREATE INDEX mail_turns ON mail (about, turn) WHERE ((status = ANY (ARRAY['queued', 'retrying', 'sending'])) AND (turn IS NOT NULL));
CREATE TRIGGER mail_counted_delete AFTER DELETE ON mail REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION mail_counted();
CREATE TRIGGER mail_counted_insert AFTER INSERT ON mail REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION mail_counted();
CREATE TRIGGER mail_counted_update AFTER UPDATE ON mail REFERENCING OLD TABLE AS gone NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION mail_counted();

CREATE TABLE media (
	id bigint GENERATED ALWAYS AS IDENTITY,
	name text NOT NULL,
	kind text NOT NULL,
	hash text NOT NULL,
	width integer NOT NULL,
	height integer NOT NULL,
	body bytea NOT NULL,
	created_at timestamp with time zone NOT NULL,
	CONSTRAINT media_pkey PRIMARY KEY (id),
	CONSTRAINT media_kind_check CHECK ((kind = ANY (ARRAY['png', 'jpg'])))
);

CREATE TABLE notice (
	id uuid NOT NULL,
	place integer NOT NULL,
	person_id bigint,
	address text NOT NULL,
	kind text NOT NULL,
	app text NOT NULL,
	at timestamp with time zone NOT NULL,
	start timestamp with time zone NOT NULL,
	message bytea NOT NULL,
	records uuid[] NOT NULL,
	people bytea[] NOT NULL,
	CONSTRAINT notice_pkey PRIMARY KEY (id, place),
	CONSTRAINT notice_person_id_fkey FOREIGN KEY (person_id) REFERENCES person(id) ON DELETE CASCADE
);
CREATE INDEX notice_person ON notice (person_id);

CREATE TABLE notification (
	person_id bigint NOT NULL,
	kinds jsonb NOT NULL,
	digest_at text NOT NULL,
	language text,
	agenda_on date,
	version bigint NOT NULL,
	CONSTRAINT notification_pkey PRIMARY KEY (person_id),
	CONSTRAINT notification_person_id_fkey FOREIGN KEY (person_id) REFERENCES person(id) ON DELETE CASCADE
);

CREATE TABLE page (
	id bigint DEFAULT next_number('page_id_seq'::regclass) NOT NULL,
	title text NOT NULL,
	slug text NOT NULL,
	status text NOT NULL,
	content text NOT NULL,
	version bigint DEFAULT 1 NOT NULL,
	created_at timestamp with time zone NOT NULL,
	updated_at timestamp with time zone NOT NULL,
	shown_version bigint DEFAULT 0 NOT NULL,
	CONSTRAINT page_pkey PRIMARY KEY (id),
	CONSTRAINT page_status_check CHECK ((status = ANY (ARRAY['draft', 'publish'])))
);
CREATE UNIQUE INDEX page_slug ON page (slug);

CREATE TABLE passkey (
	id uuid NOT NULL,
	person_id bigint NOT NULL,
	name text NOT NULL,
	credential_id bytea NOT NULL,
	credential jsonb NOT NULL,
	created_at timestamp with time zone NOT NULL,
	last_used_at timestamp with time zone,
	CONSTRAINT passkey_pkey PRIMARY KEY (id),
	CONSTRAINT passkey_credential_id_key UNIQUE (credential_id),
	CONSTRAINT passkey_person_id_fkey FOREIGN KEY (person_id) REFERENCES person(id) ON DELETE CASCADE
);
CREATE INDEX passkey_person ON passkey (person_id);

CREATE TABLE passkey_challenge (
	hash bytea NOT NULL,
	expires_at timestamp with time zone NOT NULL,
	CONSTRAINT passkey_challenge_pkey PRIMARY KEY (hash)
);
CREATE INDEX passkey_challenge_age ON passkey_challenge (expires_at);

CREATE TABLE password_request (
	id bigint GENERATED ALWAYS AS IDENTITY,
	email text NOT NULL,
	created_at timestamp with time zone NOT NULL,
	CONSTRAINT password_request_pkey PRIMARY KEY (id)
);

CREATE TABLE person (
	id bigint DEFAULT next_number('person_id_seq'::regclass) NOT NULL,
	login text NOT NULL,
	name text NOT NULL,
	email text NOT NULL,
	roles text[] NOT NULL,
	password text,
	totp bytea,
	totp_step bigint DEFAULT 0 NOT NULL,
	totp_pending bytea,
	version bigint DEFAULT 1 NOT NULL,
	created_at timestamp with time zone NOT NULL,
	updated_at timestamp with time zone NOT NULL,
	code_failures integer DEFAULT 0 NOT NULL,
	code_after timestamp with time zone,
	issuer text,
	subject text,
	CONSTRAINT person_pkey PRIMARY KEY (id),
	CONSTRAINT person_account CHECK (((issuer IS NULL) = (subject IS NULL)))
);
CREATE UNIQUE INDEX person_email ON person (lower(email));
CREATE UNIQUE INDEX person_login ON person (lower(login));
CREATE UNIQUE INDEX person_subject ON person (issuer, subject);

CREATE TABLE provider_logout (
	hash bytea NOT NULL,
	expires_at timestamp with time zone NOT NULL,
	CONSTRAINT provider_logout_pkey PRIMARY KEY (hash)
);
CREATE INDEX provider_logout_age ON provider_logout (expires_at);

CREATE TABLE provider_request (
	state_hash bytea NOT NULL,
	browser_hash bytea NOT NULL,
	nonce text NOT NULL,
	verifier text NOT NULL,
	next text NOT NULL,
	home text NOT NULL,
	channel text NOT NULL,
	confirms bytea,
	created_at timestamp with time zone NOT NULL,
	CONSTRAINT provider_request_pkey PRIMARY KEY (state_hash)
);
CREATE INDEX provider_request_age ON provider_request (created_at);

CREATE TABLE recovery_code (
	person_id bigint NOT NULL,
	hash bytea NOT NULL,
	CONSTRAINT recovery_code_pkey PRIMARY KEY (person_id, hash),
	CONSTRAINT recovery_code_person_id_fkey FOREIGN KEY (person_id) REFERENCES person(id) ON DELETE CASCADE
);

CREATE TABLE refused_removal (
	request_id uuid NOT NULL,
	status integer NOT NULL,
	code text NOT NULL,
	message text NOT NULL,
	data jsonb,
	at timestamp with time zone NOT NULL,
	CONSTRAINT refused_removal_pkey PRIMARY KEY (request_id)
);

CREATE TABLE role (
	name text NOT NULL,
	label text NOT NULL,
	capabilities text[] NOT NULL,
	visibility text NOT NULL,
	fixed boolean DEFAULT false NOT NULL,
	"position" integer NOT NULL,
	version bigint DEFAULT 1 NOT NULL,
	CONSTRAINT role_pkey PRIMARY KEY (name),
	CONSTRAINT role_visibility_check CHECK ((visibility = ANY (ARRAY['all', 'own'])))
);

CREATE TABLE saved_view (
	id uuid NOT NULL,
	entity text NOT NULL,
	name text NOT NULL,
	query jsonb NOT NULL,
	columns text[] NOT NULL,
	shared boolean NOT NULL,
	"position" integer NOT NULL,
	user_id bigint,
	version bigint DEFAULT 1 NOT NULL,
	created_at timestamp with time zone NOT NULL,
	updated_at timestamp with time zone NOT NULL,
	CONSTRAINT saved_view_pkey PRIMARY KEY (id),
	CONSTRAINT saved_view_check CHECK ((shared OR (user_id IS NOT NULL))),
	CONSTRAINT saved_view_entity_check CHECK ((entity = ANY (ARRAY['contacts', 'organizations', 'appointments', 'submissions']))),
	CONSTRAINT saved_view_user_id_fkey FOREIGN KEY (user_id) REFERENCES person(id) ON DELETE CASCADE
);
CREATE INDEX saved_view_user ON saved_view (user_id);

CREATE TABLE session (
	hash bytea NOT NULL,
	person_id bigint NOT NULL,
	channel text NOT NULL,
	two_factor boolean NOT NULL,
	created_at timestamp with time zone NOT NULL,
	seen_at timestamp with time zone NOT NULL,
	expires_at timestamp with time zone NOT NULL,
	id uuid DEFAULT gen_random_uuid() NOT NULL,
	password_at timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
	browser text DEFAULT '' NOT NULL,
	address text DEFAULT '' NOT NULL,
	issuer text,
	sid text,
	CONSTRAINT session_pkey PRIMARY KEY (hash),
	CONSTRAINT session_person_id_fkey FOREIGN KEY (person_id) REFERENCES person(id) ON DELETE CASCADE
);
CREATE UNIQUE INDEX session_id ON session (id);
CREATE INDEX session_person ON session (person_id);
CREATE INDEX session_seen ON session (seen_at);
CREATE INDEX session_sid ON session (issuer, sid) WHERE (issuer IS NOT NULL);

CREATE SEQUENCE mail_turn;

CREATE OR REPLACE FUNCTION audit_counted()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
		begin
			case tg_op
			when 'INSERT' then
				insert into row_count select 'audit', array[channel, action, user_id::text], count(*) from changed group by 2;
			when 'DELETE' then
				insert into row_count select 'audit', array[channel, action, user_id::text], -count(*) from gone group by 2;
			else
				insert into row_count select 'audit', key, sum(n) from (select array[channel, action, user_id::text] as key, 1 as n from changed union all select array[channel, action, user_id::text], -1 from gone) x
					group by key having sum(n) <> 0;
			end case;
			return null;
		end $function$;

CREATE OR REPLACE FUNCTION mail_counted()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
		begin
			case tg_op
			when 'INSERT' then
				insert into row_count select 'mail', array[status], count(*) from changed group by 2;
			when 'DELETE' then
				insert into row_count select 'mail', array[status], -count(*) from gone group by 2;
			else
				insert into row_count select 'mail', key, sum(n) from (select array[status] as key, 1 as n from changed union all select array[status], -1 from gone) x
					group by key having sum(n) <> 0;
			end case;
			return null;
		end $function$;
