-- What all migrations make, without the tables of libs/db/schema.sql that every service has.
-- UPDATE_SCHEMA=1 make units PACKAGES=./libs/db RUN=TestTheWrittenSchemas writes this file; nothing runs it.

CREATE TABLE attempt (
	message uuid NOT NULL,
	delivery uuid NOT NULL,
	number integer NOT NULL,
	at timestamp with time zone NOT NULL,
	url text NOT NULL,
	response_code integer,
	response_body bytea DEFAULT '\x'::bytea NOT NULL,
	error text,
	duration_ms integer NOT NULL,
	CONSTRAINT attempt_pkey PRIMARY KEY (message, delivery, number)
);

CREATE TABLE delivery (
	id uuid NOT NULL,
	seq bigint GENERATED ALWAYS AS IDENTITY,
	webhook uuid NOT NULL,
	message uuid NOT NULL,
	record uuid NOT NULL,
	status text NOT NULL,
	attempts integer DEFAULT 0 NOT NULL,
	failed_attempts integer DEFAULT 0 NOT NULL,
	once boolean DEFAULT false NOT NULL,
	response_code integer,
	error text,
	duration_ms integer,
	next_attempt_at timestamp with time zone,
	created_at timestamp with time zone NOT NULL,
	delivered_at timestamp with time zone,
	replayed_at timestamp with time zone,
	CONSTRAINT delivery_pkey PRIMARY KEY (id),
	CONSTRAINT delivery_status_check CHECK ((status = ANY (ARRAY['queued', 'retrying', 'delivered', 'failed'])))
) WITH (autovacuum_vacuum_scale_factor=0.02);
CREATE INDEX delivery_age ON delivery USING brin (created_at);
CREATE INDEX delivery_delivered ON delivery (webhook, created_at DESC, id DESC) WHERE (status = 'delivered');
CREATE INDEX delivery_failed ON delivery (webhook, created_at DESC, id DESC) WHERE (status = 'failed');
CREATE INDEX delivery_log ON delivery (webhook, created_at DESC, id DESC);
CREATE INDEX delivery_queued ON delivery (webhook, seq) WHERE (status = 'queued');
CREATE INDEX delivery_queued_record ON delivery (webhook, record, seq) WHERE (status = 'queued');
CREATE INDEX delivery_retrying ON delivery (webhook, next_attempt_at) WHERE (status = 'retrying');

CREATE TABLE erased (
	contact uuid NOT NULL,
	erased_at timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT erased_pkey PRIMARY KEY (contact)
);

CREATE TABLE feed (
	one boolean DEFAULT true NOT NULL,
	offset_by bigint DEFAULT 0 NOT NULL,
	gone bigint DEFAULT 0 NOT NULL,
	CONSTRAINT feed_pkey PRIMARY KEY (one),
	CONSTRAINT feed_one_check CHECK (one)
);

CREATE TABLE lease (
	delivery uuid NOT NULL,
	webhook uuid NOT NULL,
	token uuid NOT NULL,
	until timestamp with time zone NOT NULL,
	CONSTRAINT lease_pkey PRIMARY KEY (delivery)
) WITH (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=2000);
CREATE INDEX lease_webhook ON lease (webhook);

CREATE TABLE message (
	id uuid NOT NULL,
	event text NOT NULL,
	record uuid NOT NULL,
	contact uuid,
	payload text NOT NULL,
	scrubbed boolean DEFAULT false NOT NULL,
	created_at timestamp with time zone NOT NULL,
	people bytea[] DEFAULT '{}'::bytea[],
	traceparent text DEFAULT '' NOT NULL,
	tx bigint DEFAULT feed_tx(pg_current_xact_id()) NOT NULL,
	seq bigint GENERATED ALWAYS AS IDENTITY,
	occurred_at timestamp with time zone DEFAULT now() NOT NULL,
	read_as smallint DEFAULT 0 NOT NULL,
	CONSTRAINT message_pkey PRIMARY KEY (id)
);
CREATE INDEX message_age ON message (created_at);
CREATE INDEX message_contact ON message (contact) WHERE (contact IS NOT NULL);
CREATE INDEX message_feed ON message (tx, seq);
CREATE INDEX message_people ON message USING gin (people);
CREATE INDEX message_read_as ON message (read_as, id);
CREATE INDEX message_record ON message (record);
CREATE INDEX message_unread ON message (id) WHERE (people IS NULL);

CREATE TABLE removed (
	webhook uuid NOT NULL,
	removed_at timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT removed_pkey PRIMARY KEY (webhook)
);

CREATE TABLE tally (
	webhook uuid NOT NULL,
	status text NOT NULL,
	n bigint NOT NULL
);

CREATE TABLE test_receiver (
	person bigint NOT NULL,
	token text NOT NULL,
	until timestamp with time zone NOT NULL,
	created_at timestamp with time zone NOT NULL,
	CONSTRAINT test_receiver_pkey PRIMARY KEY (person),
	CONSTRAINT test_receiver_token_key UNIQUE (token)
);

CREATE TABLE test_request (
	id uuid NOT NULL,
	person bigint NOT NULL,
	at timestamp with time zone NOT NULL,
	headers jsonb NOT NULL,
	body bytea NOT NULL,
	size integer NOT NULL,
	signatures jsonb NOT NULL,
	CONSTRAINT test_request_pkey PRIMARY KEY (id),
	CONSTRAINT test_request_person_fkey FOREIGN KEY (person) REFERENCES test_receiver(person) ON DELETE CASCADE
);
CREATE INDEX test_request_of ON test_request (person, id DESC);

CREATE TABLE webhook (
	id uuid NOT NULL,
	name text NOT NULL,
	url text NOT NULL,
	events text[] NOT NULL,
	active boolean NOT NULL,
	paused text,
	failures integer DEFAULT 0 NOT NULL,
	secret bytea NOT NULL,
	secret_hint text NOT NULL,
	created_at timestamp with time zone NOT NULL,
	updated_at timestamp with time zone NOT NULL,
	version bigint DEFAULT 1 NOT NULL,
	old_secret bytea,
	old_secret_until timestamp with time zone,
	only_for jsonb DEFAULT '{}'::jsonb NOT NULL,
	only_keys jsonb DEFAULT '{}'::jsonb NOT NULL,
	format text DEFAULT 'svc' NOT NULL,
	CONSTRAINT webhook_pkey PRIMARY KEY (id),
	CONSTRAINT webhook_format_check CHECK ((format = ANY (ARRAY['svc', 'cloudevents']))),
	CONSTRAINT webhook_old_secret CHECK (((old_secret IS NULL) = (old_secret_until IS NULL))),
	CONSTRAINT webhook_paused_check CHECK ((paused = ANY (ARRAY['failures', 'secret'])))
) WITH (fillfactor=70);

CREATE OR REPLACE FUNCTION feed_tx(number xid8)
 RETURNS bigint
 LANGUAGE sql
 STABLE
AS $function$
	select offset_by + number::text::bigint from feed
$function$;

CREATE OR REPLACE FUNCTION new_id()
 RETURNS uuid
 LANGUAGE sql
AS $function$
	select encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid()) placing
		substring(int8send(floor(extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6), 52, 1), 53, 1), 'hex')::uuid
$function$;
