"""Orders on other machines, whatever queues them: folders of orders, packs, journals of attempts."""
